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
  run,
  select,
  sequence,
  shapeDtype,
  squeezed,
  when,
  whileLoop,
  zeros,
} from 'tilewright';
import { findingOf, vector } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';

// biome-ignore lint/suspicious/noExplicitAny: the mistakes here are ones that TypeScript would catch
const mistakeIn = (body: (refs: any, g: any) => unknown) => findingOf(() => vector(body).trace());

describe('traced values are not JavaScript values', () => {
  test('in a comparison', async () => {
    expect(
      await mistakeIn(({ x, z }, g) => {
        if (g.i < 3) z.store(x.load());
      }),
    ).toBe('TW1001 at : a traced value (i32) is used as a JavaScript number or in a JavaScript comparison');
  });
  test('as a number', async () => {
    expect(await mistakeIn((_, g) => +g.i)).toBe(
      'TW1001 at : a traced value (i32) is used as a JavaScript number or in a JavaScript comparison',
    );
  });
  test('as an array index', async () => {
    expect(await mistakeIn((_, g) => [1, 2][g.i])).toBe(
      'TW1002 at : a traced value (i32) is used as text or as a property key',
    );
  });
  test('in template text', async () => {
    expect(await mistakeIn(({ x }) => `${x.load()}`)).toBe(
      'TW1002 at load: a traced value (f32[64]) is used as text or as a property key',
    );
  });
  test('iterated', async () => {
    expect(await mistakeIn(({ x }) => [...x.load()])).toBe('TW1003 at load: a traced value (f32[64]) is not iterable');
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
    expect(await mistakeIn(({ z }) => z.store(leaked))).toBe(
      "TW1006 at store: a value of kernel 'k' is used in kernel 'k'",
    );
  });
  test('outside of a body', async () => {
    expect(await findingOf(() => zeros(f32, [4]))).toBe('TW1007 at zeros: a constant outside of a kernel body');
  });
  test('a kernel inside a kernel', async () => {
    const inner = vector(({ x, z }) => z.store(x.load()));
    expect(await mistakeIn(() => inner.trace())).toBe("TW1029 at trace: kernel 'k' is traced inside of kernel 'k'");
  });
  test('a grid axis of another program', async () => {
    const other = grid({ j: 4 });
    expect(await mistakeIn(({ x, z }) => z.store(x.load().add(other.j.to(f32))))).toBe(
      "TW1016 at to: 'j' is an axis of another program's grid",
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
    expect(await mistakeIn(({ x, z }) => z.store(x.load().add(zeros(f32, [3]))))).toBe(
      "TW1011 at add: 'add': shapes [64] and [3] do not broadcast",
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
    expect(await mistakeIn(() => full(f16, [2], 1e6))).toBe(
      'TW1012 at full: 1000000 is not a value of f16: the largest number is 65504',
    );
  });
  test('a captured host array', async () => {
    expect(await mistakeIn(({ x, z }) => z.store(x.load().add(new Float32Array(64))))).toBe(
      'TW1026 at add: the kernel uses a Float32Array from its surroundings',
    );
  });
  test('a dot of shapes that do not match', async () => {
    expect(await mistakeIn(() => dot(zeros(f32, [4, 5]), zeros(f32, [4, 5])))).toBe(
      "TW1013 at dot: 'dot' needs a[…, m, k] and b[…, k, n], got f32[4, 5] and f32[4, 5]",
    );
  });
  test('an op on the wrong kind of dtype', async () => {
    expect(await mistakeIn(() => (iota([4]) as never as { exp(): unknown }).exp())).toBe(
      "TW1013 at exp: 'exp' needs a tile of floats for 'input', got i32[4]",
    );
  });
  test('a select of mixed dtypes', async () => {
    expect(await mistakeIn(({ x }) => select(x.load().lt(0), x.load(), iota([64]) as never))).toBe(
      "TW1010 at select: 'select' needs equal dtypes, got f32 and i32",
    );
  });
  test('an axis that does not exist', async () => {
    expect(await mistakeIn(({ x }) => x.load().sum(1))).toBe('TW1016 at sum: axis 1 is not one of f32[64]');
  });
  test('a tile extent of zero', async () => {
    expect(await mistakeIn(() => zeros(f32, [0]))).toBe(
      'TW1023 at zeros: a tile extent must be an integer from 1 up, got 0',
    );
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
    expect(await mistakeIn(({ x }) => loop({ to: 4, carry: { m: x.load() } }, () => ({}) as never))).toBe(
      "TW1027 at loop: a loop body does not return the carried value 'm'",
    );
    expect(
      await mistakeIn(({ x }) => loop({ to: 4, carry: { m: x.load() } }, (_, { m }) => ({ m, q: m }) as never)),
    ).toBe("TW1027 at loop: a loop body returns 'q', which is not carried");
  });
  test('a body that returns without a carry', async () => {
    expect(await mistakeIn(({ x }) => loop({ to: 4 }, () => x.load()))).toBe(
      'TW1027 at loop: this loop carries nothing, but its body returns a value',
    );
  });
  test('async bodies', async () => {
    expect(await mistakeIn(async ({ x, z }) => z.store(x.load()))).toBe(
      'TW1028 at blockProgram: a kernel body must not be async',
    );
    expect(await mistakeIn(({ x }) => loop({ to: 2, carry: x.load() }, (async () => x.load()) as never))).toBe(
      'TW1028 at loop: a loop body must not be async',
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
    ).toBe("TW1014 at to: carried value 'value' changes from f32[64] to f16[64]");
  });
  test('a step of zero and a bound that is a fraction', async () => {
    expect(await mistakeIn(() => loop({ to: 4, step: 0 }, () => {}))).toBe(
      'TW1016 at loop: step of a loop is an integer from 1 up, got 0',
    );
    expect(await mistakeIn(() => loop({ to: 4.5 }, () => {}))).toBe(
      'TW1016 at loop: to of a loop is an i32 scalar, got 4.5',
    );
  });
});

describe('refs', () => {
  test('a store of the wrong shape', async () => {
    expect(await mistakeIn(({ z }) => z.store(zeros(f32, [32])))).toBe(
      "TW1015 at store: store to 'z': the block is f32[64], the value is f32[32]",
    );
  });
  test('a store of the wrong dtype says how to convert', async () => {
    const [found] = await diagnosticsOf(() => vector(({ x, z }) => z.store(x.load().to(f16))).trace());
    expect(found!.help).toBe('convert with .to(f32)');
  });
  test('an index that is not an integer', async () => {
    expect(await mistakeIn(({ x }) => x.at(1.5))).toBe(
      "TW1016 at at: 'x' is indexed by 1.5; an index is an integer from 0 up",
    );
    expect(await mistakeIn(({ x }) => x.at(x.load().sum(0)))).toBe(
      "TW1016 at at: 'x' is indexed by f32; an index is an i32 scalar",
    );
  });
  test('too many indices', async () => {
    expect(await mistakeIn(({ x }) => x.at(0, 0))).toBe("TW1016 at at: 'x' has 1 axis here, got 2 indices");
  });
  test('a slice of no elements', async () => {
    expect(await mistakeIn(({ x }) => x.at(ds(0, 0)))).toBe(
      "TW1023 at at: a slice of 'x' needs a size from 1 up, got 0",
    );
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
    expect(await findingOf(() => array(f32, [n, n]).block([64] as never, [g.i, 0]))).toBe(
      'TW1021 at block: the block has 1 dimension, the array has 2',
    );
  });
  test('an index map of another rank', async () => {
    expect(await findingOf(() => array(f32, [n, n]).block([squeezed, 64], [g.i] as never))).toBe(
      'TW1022 at block: the index map has 1 index, the block has 2 dimensions',
    );
  });
  test('a block extent that is no integer', async () => {
    expect(await findingOf(() => array(f32, [n]).block([1.5], [g.i]))).toBe(
      'TW1023 at block: a block extent must be an integer from 1 up or a dim, got 1.5',
    );
  });
  test('a name used twice', async () => {
    const k = kernel('twice', {}, () =>
      blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { x: array(f32, [n]) } }, () => {}),
    );
    expect(await findingOf(() => k.trace())).toBe("TW1024 at array: 'x' is declared twice in kernel 'twice'");
  });
  test('a dim with the name of an array', async () => {
    const k = kernel('clash', {}, () =>
      blockProgram({ grid: g, inputs: { n: array(f32, [n]) }, outputs: { z: array(f32, [n]) } }, () => {}),
    );
    expect(await findingOf(() => k.trace())).toBe("TW1024 at dim: 'n' is declared twice in kernel 'clash'");
  });
  test('a dim that promises nonsense', async () => {
    expect(await findingOf(() => dim('n', { multipleOf: 0 }))).toBe(
      "TW1023 at dim: multipleOf of dim 'n' must be an integer from 1 to 2147483647, got 0",
    );
  });
  test('an alias of another shape', async () => {
    const k = kernel('alias', {}, () =>
      blockProgram(
        { grid: g, inputs: { x: array(f16, [n]) }, outputs: { z: array(f32, [n]) }, aliases: { z: 'x' } },
        () => {},
      ),
    );
    expect(await findingOf(() => k.trace())).toBe(
      "TW1025 at array: output 'z' cannot alias 'x': dtype and extents must be the same",
    );
  });
  test('a setup that returns no program', async () => {
    expect(await findingOf(() => kernel('none', {}, (() => undefined) as never).trace())).toBe(
      "TW1030 at kernel: the setup of kernel 'none' must return a program, got undefined",
    );
  });
  test('an exception of the user’s own code, at its line', async () => {
    const k = kernel('throws', {}, () => {
      throw new RangeError('my own');
    });
    expect(await findingOf(() => k.trace())).toBe('TW1403 at new: uncaught exception: RangeError: my own');
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
    expect(await findingOf(() => k.withText({ [name]: text }))).toContain(
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
  test('interpret: run takes the kernel to the interpreter, unless it is told a target', async () => {
    const k = pallasCall({ kernel: (o) => o.store(7), outShape: shapeDtype([2], f32), interpret: true })();
    // No tool is there, so nothing can be compiled.
    const tools = { 'mlir-opt': '/nowhere/mlir-opt' };
    const { out0 } = await run(k.with({}), {}, { tools });
    expect([...out0!.data]).toEqual([7, 7]);
    expect(await findingOf(() => run(k, {}, { tools, target: 'cpu', cache: false }))).toMatch(/^TW3/);
  });
  test('refuses scratch', async () => {
    const base = { kernel: () => {}, outShape: shapeDtype([n], f32) };
    expect(await findingOf(() => pallasCall({ ...base, scratchShapes: [1] }))).toBe(
      "TW1031 at pallasCall: 'scratchShapes' needs an explicit program",
    );
  });
  test('an index map that returns a number', async () => {
    const k = pallasCall({
      kernel: () => {},
      outShape: shapeDtype([n], f32),
      grid: n,
      outSpecs: blockSpec([64], ((i: unknown) => i) as never),
    });
    expect(await findingOf(() => k().trace())).toBe(
      'TW1022 at blockSpec: the index map has 1 index, the block has 1 dimension',
    );
  });
  test('more specs than inputs', async () => {
    const k = pallasCall({ kernel: () => {}, outShape: shapeDtype([n], f32), inSpecs: [blockSpec()] });
    expect(await findingOf(() => k().trace())).toBe('TW1016 at pallasCall: each of 0 inputs has a block spec, got 1');
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
  expect(await findingOf(() => wrong.trace())).toBe("TW1023 at array: 't' is f16[n] here and f32[n] before");
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
