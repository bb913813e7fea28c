import { describe, expect, test } from '@jest/globals';
import {
  all,
  array,
  blockProgram,
  blockSpec,
  cdiv,
  dim,
  dot,
  ds,
  f16,
  f32,
  full,
  grid,
  i32,
  ifElse,
  iota,
  kernel,
  loop,
  pallasCall,
  printKernel,
  select,
  sequence,
  shapeDtype,
  squeezed,
  when,
  whileLoop,
  zeros,
} from 'tilewright';
import { diagnosticsOf, errorOf } from '../support/thrown.js';

/** A kernel over x, y → z, all f32[n] in blocks of 64, with this body; typed loosely, for mistakes. */
// biome-ignore lint/suspicious/noExplicitAny: the mistakes here are ones that TypeScript would catch
const vector = (body: (refs: any, g: any) => unknown) =>
  kernel('k', {}, () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 64) });
    const v = array(f32, [n]).block([64], [g.i]);
    return blockProgram({ grid: g, inputs: { x: v, y: v }, outputs: { z: v } }, (refs) => body(refs, g) as never);
  });
// biome-ignore lint/suspicious/noExplicitAny: as above
const mistakeIn = (body: (refs: any, g: any) => unknown) => errorOf(() => vector(body).trace());

describe('traced values are not JavaScript values', () => {
  test('in a comparison', async () => {
    expect(
      await mistakeIn(({ x, z }, g) => {
        if (g.i < 3) z.store(x.load());
      }),
    ).toMatch(/^TW1001 frontend-errors.test.ts:\d+ a traced value \(i32\) is used as a JavaScript number/);
  });
  test('as a number', async () => {
    expect(await mistakeIn((_, g) => +g.i)).toMatch(/^TW1001/);
  });
  test('as an array index', async () => {
    expect(await mistakeIn((_, g) => [1, 2][g.i])).toMatch(/^TW1002 .* used as text or as a property key/);
  });
  test('in template text', async () => {
    expect(await mistakeIn(({ x }) => `${x.load()}`)).toMatch(/^TW1002 .*\(f32\[64\]\)/);
  });
  test('iterated', async () => {
    expect(await mistakeIn(({ x }) => [...x.load()])).toMatch(/^TW1003/);
  });
  test('as a condition: a warning at its line, for the result is never used', () => {
    const k = vector(({ x, z }) => {
      if (x.load().lt(0)) z.store(x.load());
    });
    const { warnings } = k.trace();
    expect(warnings.map((w) => `${w.code} ${w.severity} ${w.message}`)).toEqual([
      "TW1004 warning the result of this 'lt' is never used",
    ]);
    expect(warnings[0]!.help).toContain('objects are always true');
  });
});

describe('scopes', () => {
  test('a value from inside a loop', async () => {
    const found = await diagnosticsOf(() =>
      vector(({ x, z }) => {
        let v: unknown;
        loop({ to: 4 }, () => {
          v = x.load();
        });
        z.store(v);
      }).trace(),
    );
    expect(found[0]!.code).toBe('TW1005');
    expect(found[0]!.notes[0]!.message).toBe('the value was made here');
    expect(found[0]!.help).toBe('return it from the body as a carried value');
  });
  test('a value of another kernel', async () => {
    let leaked: unknown;
    vector(({ x, z }) => {
      leaked = x.load();
      z.store(x.load());
    }).trace();
    expect(await mistakeIn(({ z }) => z.store(leaked))).toMatch(
      /^TW1006 .*a value of kernel 'k' is used in kernel 'k'/,
    );
  });
  test('outside of a body', async () => {
    expect(await errorOf(() => zeros(f32, [4]))).toMatch(/^TW1007 .*a constant outside of a kernel body/);
  });
  test('a kernel inside a kernel', async () => {
    const inner = vector(({ x, z }) => z.store(x.load()));
    expect(await mistakeIn(() => inner.trace())).toMatch(/^TW1029/);
  });
  test('a grid axis of another program', async () => {
    const other = grid({ j: 4 });
    expect(await mistakeIn(({ x, z }) => z.store(x.load().add(other.j.to(f32))))).toMatch(
      /^TW1016 .*'j' is an axis of another program's grid/,
    );
  });
});

describe('operands', () => {
  test('mixed dtypes name both and show the cast', async () => {
    const [found] = await diagnosticsOf(() => vector(({ x, z }) => z.store(x.load().to(f16).add(x.load()))).trace());
    expect(found!.message).toBe("'add' needs equal dtypes, got f16 and f32");
    expect(found!.help).toBe('convert one side: .to(f16) or .to(f32)');
    expect(found!.notes).toHaveLength(2);
  });
  test('shapes that do not broadcast', async () => {
    expect(await mistakeIn(({ x, z }) => z.store(x.load().add(zeros(f32, [3]))))).toMatch(
      /^TW1011 .*shapes \[64\] and \[3\] do not broadcast/,
    );
  });
  test.each([
    ['a fraction in an integer', 1.5, 'it has a fraction'],
    ['out of range', 2 ** 31, 'the range is -2147483648 to 2147483647'],
    ['NaN in an integer', Number.NaN, 'integers have no NaN'],
    ['infinity in an integer', Number.POSITIVE_INFINITY, 'integers have no infinity'],
    ['negative zero in an integer', -0, 'integers have no negative zero'],
  ])('%s', async (_, value, why) => {
    expect(await mistakeIn(() => iota([64]).add(value))).toContain(why);
  });
  test('too large for f16', async () => {
    expect(await mistakeIn(() => full(f16, [2], 1e6))).toMatch(/^TW1012 .*the largest number is 65504/);
  });
  test('a captured host array', async () => {
    expect(await mistakeIn(({ x, z }) => z.store(x.load().add(new Float32Array(64))))).toMatch(
      /^TW1026 .*the kernel uses a Float32Array from its surroundings/,
    );
  });
  test('a dot of shapes that do not match', async () => {
    expect(await mistakeIn(() => dot(zeros(f32, [4, 5]), zeros(f32, [4, 5])))).toMatch(
      /^TW1013 .*'dot' needs a\[…, m, k\] and b\[…, k, n\], got f32\[4, 5\] and f32\[4, 5\]/,
    );
  });
  test('an op on the wrong kind of dtype', async () => {
    expect(await mistakeIn(() => (iota([4]) as never as { exp(): unknown }).exp())).toMatch(
      /^TW1013 .*'exp' needs a tile of floats/,
    );
  });
  test('a select of mixed dtypes', async () => {
    expect(await mistakeIn(({ x }) => select(x.load().lt(0), x.load(), iota([64]) as never))).toMatch(/^TW1010/);
  });
  test('an axis that does not exist', async () => {
    expect(await mistakeIn(({ x }) => x.load().sum(1))).toMatch(/^TW1016 .*axis 1 is not one of f32\[64\]/);
  });
  test('a tile extent of zero', async () => {
    expect(await mistakeIn(() => zeros(f32, [0]))).toMatch(/^TW1023 .*an integer from 1 up, got 0/);
  });
});

describe('control flow', () => {
  test('a carried value that changes its dtype, where it was made', async () => {
    const [found] = await diagnosticsOf(() =>
      vector(({ x }) => loop({ to: 4, carry: { m: x.load() } }, (_, { m }) => ({ m: m.to(f16) }) as never)).trace(),
    );
    expect(found!.code).toBe('TW1014');
    expect(found!.message).toBe("carried value 'm' changes from f32[64] to f16[64]");
    expect(found!.help).toBe('convert with .to(f32) before returning it');
  });
  test('a carried value that is missing, and one too many', async () => {
    expect(await mistakeIn(({ x }) => loop({ to: 4, carry: { m: x.load() } }, () => ({}) as never))).toContain(
      "does not return the carried value 'm'",
    );
    expect(
      await mistakeIn(({ x }) => loop({ to: 4, carry: { m: x.load() } }, (_, { m }) => ({ m, q: m }) as never)),
    ).toContain("returns 'q', which is not carried");
  });
  test('a body that returns without a carry', async () => {
    expect(await mistakeIn(({ x }) => loop({ to: 4 }, () => x.load()))).toMatch(/^TW1027/);
  });
  test('async bodies', async () => {
    expect(await mistakeIn(async ({ x, z }) => z.store(x.load()))).toMatch(/^TW1028 .*a kernel body must not be async/);
    expect(await mistakeIn(({ x }) => loop({ to: 2, carry: x.load() }, (async () => x.load()) as never))).toMatch(
      /^TW1028/,
    );
  });
  test('branches of different types', async () => {
    expect(
      await mistakeIn(({ x }, g) =>
        ifElse(
          g.i.eq(0),
          () => x.load(),
          () => x.load().to(f16),
        ),
      ),
    ).toMatch(/^TW1014/);
  });
  test('a step of zero and a bound that is a fraction', async () => {
    expect(await mistakeIn(() => loop({ to: 4, step: 0 }, () => {}))).toMatch(/^TW1016 .*from 1 up, got 0/);
    expect(await mistakeIn(() => loop({ to: 4.5 }, () => {}))).toMatch(/^TW1016/);
  });
});

describe('refs', () => {
  test('a store of the wrong shape', async () => {
    expect(await mistakeIn(({ z }) => z.store(zeros(f32, [32])))).toMatch(
      /^TW1015 .*store to 'z': the block is f32\[64\], the value is f32\[32\]/,
    );
  });
  test('a store of the wrong dtype says how to convert', async () => {
    const [found] = await diagnosticsOf(() => vector(({ x, z }) => z.store(x.load().to(f16))).trace());
    expect(found!.help).toBe('convert with .to(f32)');
  });
  test('an index that is not an integer', async () => {
    expect(await mistakeIn(({ x }) => x.at(1.5))).toMatch(/^TW1016 .*'x' is indexed by 1.5/);
    expect(await mistakeIn(({ x }) => x.at(x.load().sum(0)))).toMatch(
      /^TW1016 .*indexed by f32; an index is an i32 scalar/,
    );
  });
  test('too many indices', async () => {
    expect(await mistakeIn(({ x }) => x.at(0, 0))).toMatch(/^TW1016 .*'x' has 1 axis here, got 2 indices/);
  });
  test('a slice of no elements', async () => {
    expect(await mistakeIn(({ x }) => x.at(ds(0, 0)))).toMatch(/^TW1023/);
  });
});

describe('declarations', () => {
  const n = dim('n');
  const g = grid({ i: n });
  test('an output that is never stored, at its declaration', async () => {
    const [found] = await diagnosticsOf(() => vector(({ x }) => void x.load()).trace());
    expect(`${found!.code} ${found!.message}`).toBe("TW1020 output 'z' of kernel 'k' is never stored");
    expect(found!.help).toBe('call z.store(…) in the body');
  });
  test('a store on some path is enough', () => {
    expect(() => vector(({ x, z }, axis) => when(axis.i.eq(0), () => z.store(x.load()))).trace()).not.toThrow();
  });
  test('a block of another rank than its array', async () => {
    expect(await errorOf(() => array(f32, [n, n]).block([64] as never, [g.i, 0]))).toMatch(
      /^TW1021 .*the block has 1 dimensions, the array has 2/,
    );
  });
  test('an index map of another rank', async () => {
    expect(await errorOf(() => array(f32, [n, n]).block([squeezed, 64], [g.i] as never))).toMatch(
      /^TW1022 .*the index map has 1 index, the block has 2/,
    );
  });
  test('a block extent that is no integer', async () => {
    expect(await errorOf(() => array(f32, [n]).block([1.5], [g.i]))).toMatch(/^TW1023/);
  });
  test('a name used twice', async () => {
    const k = kernel('twice', {}, () =>
      blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { x: array(f32, [n]) } }, () => {}),
    );
    expect(await errorOf(() => k.trace())).toMatch(/^TW1024 .*'x' is declared twice/);
  });
  test('a dim with the name of an array', async () => {
    const k = kernel('clash', {}, () =>
      blockProgram({ grid: g, inputs: { n: array(f32, [n]) }, outputs: { z: array(f32, [n]) } }, () => {}),
    );
    expect(await errorOf(() => k.trace())).toMatch(/^TW1024 .*'n'/);
  });
  test('a dim that promises nonsense', async () => {
    expect(await errorOf(() => dim('n', { multipleOf: 0 }))).toMatch(/^TW1023 .*multipleOf of dim 'n'/);
  });
  test('an alias of another shape', async () => {
    const k = kernel('alias', {}, () =>
      blockProgram(
        { grid: g, inputs: { x: array(f16, [n]) }, outputs: { z: array(f32, [n]) }, aliases: { z: 'x' } },
        () => {},
      ),
    );
    expect(await errorOf(() => k.trace())).toMatch(/^TW1025 .*dtype and extents must be the same/);
  });
  test('a setup that returns no program', async () => {
    expect(await errorOf(() => kernel('none', {}, (() => undefined) as never).trace())).toMatch(/^TW1030/);
  });
  test('an exception of the user’s own code, at its line', async () => {
    const k = kernel('throws', {}, () => {
      throw new RangeError('my own');
    });
    expect(await errorOf(() => k.trace())).toMatch(
      /^TW1403 frontend-errors.test.ts:\d+ uncaught exception: RangeError: my own/,
    );
  });
});

describe('parameters', () => {
  const k = kernel('p', { block: 64, fast: true, mode: 'a', dtype: f32 }, ({ block }) => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, block) });
    const v = array(f32, [n]).block([block], [g.i]);
    return blockProgram({ grid: g, inputs: { x: v }, outputs: { z: v } }, ({ x, z }) => z.store(x.load()));
  });
  test('text is read by the default’s type', () => {
    expect(k.withText({ block: '128', fast: 'false', mode: 'b', dtype: 'f16' }).given).toEqual({
      block: 128,
      fast: false,
      mode: 'b',
      dtype: f16,
    });
    expect(printKernel(k.withText({ block: '128' }).trace().kernel)).toContain('cdiv(n, 128)');
  });
  test('an unknown name suggests the nearest', async () => {
    const [found] = await diagnosticsOf(() => k.withText({ blok: '1' }));
    expect(`${found!.code} ${found!.message}; ${found!.help}`).toBe(
      "TW1040 kernel 'p' has no parameter 'blok'; did you mean 'block'?",
    );
  });
  test.each([
    ['block', 'many', 'a number'],
    ['fast', 'maybe', 'true or false'],
    ['dtype', 'f33', 'a dtype'],
  ])('%s=%s is refused', async (name, text, expected) => {
    expect(await errorOf(() => k.withText({ [name]: text }))).toContain(
      `parameter '${name}' must be ${expected}, got '${text}'`,
    );
  });
});

describe('pallasCall', () => {
  const n = dim('n');
  const add = pallasCall({
    kernel: (x, y, o) => o.store(x.load().add(y.load())),
    outShape: shapeDtype([n], f32),
    grid: cdiv(n, 64),
    inSpecs: [blockSpec([64], (i) => [i]), blockSpec([64], (i) => [i])],
    outSpecs: blockSpec([64], (i) => [i]),
    name: 'add',
    metadata: { origin: 'port' },
  });
  test('makes the kernel that blockProgram makes', () => {
    const text = printKernel(add(shapeDtype([n], f32), shapeDtype([n], f32)).trace().kernel, { locs: false });
    expect(text).toContain('launch @add grid(i0 = cdiv(n, 64))');
    expect(text).toContain('metadata origin = "port"');
    expect(text).toMatch(/= load %in0 index\(%\d+\) valid\(%\d+\) : f32\[64\]/);
  });
  test('refuses scratch', async () => {
    const base = { kernel: () => {}, outShape: shapeDtype([n], f32) };
    expect(await errorOf(() => pallasCall({ ...base, scratchShapes: [1] }))).toMatch(/^TW1031 .*'scratchShapes'/);
  });
  test('an index map that returns a number', async () => {
    const k = pallasCall({
      kernel: () => {},
      outShape: shapeDtype([n], f32),
      grid: n,
      outSpecs: blockSpec([64], ((i: unknown) => i) as never),
    });
    expect(await errorOf(() => k().trace())).toMatch(/^TW1022/);
  });
  test('more specs than inputs', async () => {
    const k = pallasCall({ kernel: () => {}, outShape: shapeDtype([n], f32), inSpecs: [blockSpec()] });
    expect(await errorOf(() => k().trace())).toMatch(/^TW1016 .*1 block specs for 0 inputs/);
  });
});

test('sequences share arrays by name and must agree about them', async () => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 64) });
  const v = array(f32, [n]).block([64], [g.i]);
  const half = array(f16, [n]).block([64], [g.i]);
  const two = kernel('two', {}, () =>
    sequence({ temps: { t: v } }, [
      blockProgram({ grid: g, inputs: { x: v }, outputs: { t: v } }, ({ x, t }) => t.store(x.load().mul(2))),
      blockProgram({ grid: g, inputs: { t: v }, outputs: { z: v } }, ({ t, z }) => z.store(t.load().add(1))),
    ]),
  );
  const { kernel: ir } = two.trace();
  expect(ir.launches.map((l) => l.name)).toEqual(['two_0', 'two_1']);
  expect(ir.params.map((p) => (p.kind === 'array' ? `${p.role} ${p.name}` : p.name))).toEqual([
    'in x',
    'out z',
    'temp t',
  ]);
  const wrong = kernel('wrong', {}, () =>
    sequence({ temps: { t: v } }, [
      blockProgram({ grid: g, inputs: { x: v }, outputs: { t: v } }, ({ x, t }) => t.store(x.load())),
      blockProgram({ grid: g, inputs: { t: half }, outputs: { z: half } }, ({ t, z }) => z.store(t.load())),
    ]),
  );
  expect(await errorOf(() => wrong.trace())).toMatch(/^TW1023 .*'t' is f16\[n\] here and f32\[n\] before/);
});

test('while loops trace both regions', () => {
  const k = vector(({ x, z }) => {
    const { v } = whileLoop(
      { v: x.load(), i: full(i32, [], 0) },
      ({ i }) => i.lt(3),
      ({ v: u, i }) => ({ v: u.mul(2), i: i.add(1) }),
    );
    z.store(v);
  });
  expect(printKernel(k.trace().kernel, { locs: false })).toContain('condition');
  expect(all).toBeDefined();
});
