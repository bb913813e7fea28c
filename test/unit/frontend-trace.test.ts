import { describe, expect, test } from '@jest/globals';
import {
  all,
  array,
  atomic,
  blockProgram,
  bool,
  cdiv,
  dim,
  dot,
  ds,
  element,
  f16,
  f32,
  full,
  gather,
  grid,
  i32,
  ifElse,
  iota,
  kernel,
  loop,
  maximum,
  minimum,
  ones,
  type Program,
  scalar,
  scatter,
  select,
  sequence,
  squeezed,
  when,
  whileLoop,
  zeros,
} from 'tilewright';
import { bodyOf, irOf } from '../support/kernels.js';

const [m, n] = [dim('m', { multipleOf: 16 }), dim('n')];

/** A kernel without parameters; one program unless the setup says otherwise. */
const traced = (setup: () => Program<unknown, unknown>) => kernel('k', {}, setup);
const one = grid({});

/** The body over one f32[4, 8] `x` → one `z` of this shape. */
// biome-ignore lint/suspicious/noExplicitAny: refs of several ranks and dtypes; what is asserted is the IR
const bodyOver = (body: (x: any, z: any) => void, shape: readonly number[] = [4, 8]): string[] =>
  bodyOf(
    traced(() =>
      blockProgram({ grid: one, inputs: { x: array(f32, [4, 8]) }, outputs: { z: array(f32, shape) } }, ({ x, z }) =>
        body(x, z),
      ),
    ),
  );

/** Only the lines whose op is one of these. */
const only = (lines: readonly string[], ...names: string[]): string[] =>
  lines
    .map((line) => line.trim())
    .filter((line) => names.some((name) => new RegExp(`^(%[\\w, %]+ = )?${name}\\b`).test(line)));

describe('blocks', () => {
  test('a ragged block: offsets and valid extents are computed once and shared by all arrays of a spec', () => {
    const k = kernel('add', {}, () => {
      const g = grid({ i: cdiv(n, 64) });
      const v = array(f32, [n]).block([64], [g.i]);
      return blockProgram({ grid: g, inputs: { x: v, y: v }, outputs: { z: v } }, ({ x, y, z }) => {
        z.store(x.load().add(y.load()));
      });
    });
    expect(irOf(k)).toBe(`kernel @add {
  dim n
  in %x: ref<gmem f32[n]>
  in %y: ref<gmem f32[n]>
  out %z: ref<gmem f32[n]>
  launch @add grid(i = cdiv(n, 64)) {
    %0 = program_id {axis = "i"} : i32
    %1 = constant {value = 64} : i32
    %2 = mul %0, %1 : i32
    %3 = dim {name = "n"} : i32
    %4 = sub %3, %2 : i32
    %5 = load %x index(%2) valid(%4) : f32[64]
    %6 = load %y index(%2) valid(%4) : f32[64]
    %7 = add %5, %6 : f32[64]
    store %z, %7 index(%2) valid(%4)
  }
}
`);
  });

  test('squeezed, element and whole-axis dimensions', () => {
    const k = traced(() => {
      const g = grid({ h: m, i: cdiv(n, 32) });
      const whole = array(f32, [m, n]);
      const inputs = {
        x: whole.block([squeezed, 32], [g.h, g.i]),
        e: whole.block([element(4), 8], [g.h, 0]),
        d: whole.block([m, 8], [0, g.i]),
      };
      return blockProgram({ grid: g, inputs, outputs: { z: inputs.x } }, ({ x, e, d, z }) => {
        z.store(x.load());
        z.at(ds(0, 8)).store(e.at(1).load());
        z.at(ds(0, 8)).store(d.at(g.h).load());
      });
    });
    // h is squeezed; element offsets are not multiplied; a block over all of m starts at 0.
    expect(only(bodyOf(k), 'load', 'add', 'mul', 'sub')).toEqual([
      '%3 = mul %1, %2 : i32',
      '%5 = sub %4, %3 : i32',
      '%6 = sub %4, %3 : i32',
      '%8 = mul %1, %7 : i32',
      '%9 = sub %4, %8 : i32',
      '%10 = sub %4, %3 : i32',
      '%11 = load %x index(%0, %3) valid(%5) {axes = [1]} : f32[32]',
      '%13 = add %0, %12 : i32',
      '%15 = load %e index(%13, %14) valid(%4) {axes = [1]} : f32[8]',
      '%16 = load %d index(%0, %8) valid(%9) {axes = [1]} : f32[8]',
    ]);
  });

  test('plain numbers that lie within their array state no valid extent; numbers that reach past it do', () => {
    expect(bodyOver((x, z) => z.store(x.at(ds(2, 4), ds(4, 4)).load()), [4, 4])).toEqual([
      '%0 = constant {value = 2} : i32',
      '%1 = constant {value = 4} : i32',
      '%2 = constant {value = 2} : i32',
      '%3 = constant {value = 4} : i32',
      '%4 = load %x index(%0, %1) valid(%2, %3) : f32[4, 4]',
      '%5 = constant {value = 0} : i32',
      '%6 = constant {value = 0} : i32',
      'store %z, %4 index(%5, %6)',
    ]);
  });

  test('an index drops its axis, missing indices keep theirs', () => {
    const lines = bodyOver((x, z) => {
      z.at(0).store(x.at(3).load());
      z.at(1, 2).store(x.at(all, 7).load().sum(0));
    });
    expect(only(lines, 'load', 'store')).toEqual([
      '%2 = load %x index(%0, %1) {axes = [1]} : f32[8]',
      'store %z, %2 index(%3, %4) {axes = [1]}',
      '%7 = load %x index(%5, %6) {axes = [0]} : f32[4]',
      'store %z, %8 index(%9, %10) {axes = []}',
    ]);
  });

  test('arrays of rank 0', () => {
    const k = traced(() =>
      blockProgram({ grid: one, inputs: { x: array(f32, []) }, outputs: { z: array(f32, []) } }, ({ x, z }) =>
        z.store(x.load()),
      ),
    );
    expect(bodyOf(k)).toEqual(['%0 = load %x : f32', 'store %z, %0']);
  });
});

describe('grids and symbols', () => {
  test('a sequential axis is a loop inside the program', () => {
    const k = traced(() => {
      const g = grid({ i: cdiv(m, 16), k: cdiv(n, 32) }, { sequential: ['k'] });
      const x = array(f32, [m, n]).block([16, 32], [g.i, g.k]);
      const z = array(f32, [m]).block([16], [g.i]);
      return blockProgram({ grid: g, inputs: { x }, outputs: { z } }, (refs) => {
        when(g.k.eq(0), () => refs.z.store(0));
        refs.z.store(refs.z.load().add(refs.x.load().sum(1)));
      });
    });
    const text = irOf(k);
    expect(text).toContain('launch @k grid(i = cdiv(m, 16)) {');
    expect(only(text.split('\n'), 'for', 'eq', 'if', 'load')).toEqual([
      'for %10, %2, %11 (%k: i32) {',
      '%13 = eq %k, %12 : bool',
      'if %13 () {',
      '%15 = load %z index(%5) valid(%7) : f32[16]',
      '%19 = load %x index(%8, %16) valid(%9, %18) : f32[16, 32]',
    ]);
  });

  test('arithmetic on dims outside of the body is computed once, before any loop', () => {
    const last = n.sub(1).floorDiv(64);
    const k = traced(() => {
      const g = grid({ i: cdiv(n, 64) });
      const z = array(i32, [n]).block([64], [g.i]);
      return blockProgram({ grid: g, inputs: {}, outputs: { z } }, (refs) => {
        loop({ to: last }, (k) => refs.z.store(iota([64]).add(last).add(k)));
      });
    });
    const lines = bodyOf(k);
    expect(only(lines, 'floor_div')).toEqual(['%4 = floor_div %2, %3 : i32']);
    expect(lines.findIndex((l) => l.includes('floor_div'))).toBeLessThan(lines.findIndex((l) => l.includes('for')));
  });

  test('div and rem of dims round down where nothing is negative, and are refused where it may be', () => {
    const k = traced(() =>
      blockProgram(
        { grid: grid({ i: n.div(4).add(n.rem(4)) }), inputs: {}, outputs: { z: array(f32, [1]) } },
        ({ z }) => z.store(0),
      ),
    );
    expect(irOf(k)).toContain('grid(i = (floor_div(n, 4) + mod(n, 4)))');
    expect(() => n.sub(5).div(2)).toThrow("'div' of what may be negative outside of a kernel body");
    expect(n.sub(5).floorDiv(2).dtype).toBe(i32);
  });

  test('minimum and maximum of dims', () => {
    const k = traced(() =>
      blockProgram(
        { grid: grid({ i: minimum(n, 8) }), inputs: {}, outputs: { z: array(f32, [maximum(m, n)]) } },
        ({ z }) => z.at(0).store(0),
      ),
    );
    expect(irOf(k)).toContain('out %z: ref<gmem f32[max(m, n)]>');
    expect(irOf(k)).toContain('grid(i = min(n, 8))');
  });

  test('a dim that only the body reads is a dim of the kernel, and promises add up', () => {
    const k = traced(() =>
      blockProgram({ grid: one, inputs: {}, outputs: { z: array(i32, [4]) } }, ({ z }) => {
        z.store(iota([4]).add(dim('q', { max: 99, multipleOf: 4 })));
        z.store(iota([4]).add(dim('q', { min: 2, multipleOf: 6, max: 200 })));
      }),
    );
    expect(irOf(k)).toContain('  dim q multiple_of(12) min(2) max(99)\n');
  });
});

describe('arithmetic', () => {
  test('numbers take the dtype and the shape of the other side, rounded', () => {
    expect(
      only(
        bodyOver((x, z) => z.store(x.load().mul(0.1).add(1))),
        'constant',
        'mul',
        'add',
      ).slice(2),
    ).toEqual([
      '%3 = constant {value = 0.10000000149011612} : f32[4, 8]',
      '%4 = mul %2, %3 : f32[4, 8]',
      '%5 = constant {value = 1} : f32[4, 8]',
      '%6 = add %4, %5 : f32[4, 8]',
      '%7 = constant {value = 0} : i32',
      '%8 = constant {value = 0} : i32',
    ]);
  });

  test('shapes broadcast at the last axis', () => {
    const lines = bodyOver((x, z) => z.store(x.load().sub(x.load().max(1).expand(1)).add(x.load().sum(0))));
    expect(only(lines, 'reduce', 'reshape', 'broadcast', 'sub', 'add')).toEqual([
      '%6 = reduce %5 {axis = 1, kind = max} : f32[4]',
      '%7 = reshape %6 : f32[4, 1]',
      '%8 = broadcast %7 : f32[4, 8]',
      '%9 = sub %2, %8 : f32[4, 8]',
      '%13 = reduce %12 {axis = 0, kind = sum} : f32[8]',
      '%14 = broadcast %13 : f32[4, 8]',
      '%15 = add %9, %14 : f32[4, 8]',
    ]);
  });

  test('reductions, with and without their axis', () => {
    const lines = bodyOver((x, z) => {
      const v = x.load();
      z.store(v.max(1, { keepDims: true }).add(v.min(1).expand(1)).broadcastTo([4, 8]));
      z.store(v.argmax(0).add(v.argmin(0)).to(f32).broadcastTo([4, 8]));
      z.store(v.lt(0).any(0).and(v.gt(0).all(0)).to(f32).broadcastTo([4, 8]));
      z.store(v.pad(-1).prod(1, { keepDims: true }).broadcastTo([4, 8]));
    });
    expect(only(lines, 'reduce', 'pad', 'reshape')).toEqual([
      '%3 = reduce %2 {axis = 1, kind = max} : f32[4]',
      '%4 = reshape %3 : f32[4, 1]',
      '%5 = reduce %2 {axis = 1, kind = min} : f32[4]',
      '%6 = reshape %5 : f32[4, 1]',
      '%11 = reduce %2 {axis = 0, kind = argmax} : i32[8]',
      '%12 = reduce %2 {axis = 0, kind = argmin} : i32[8]',
      '%20 = reduce %19 {axis = 0, kind = any} : bool[8]',
      '%23 = reduce %22 {axis = 0, kind = all} : bool[8]',
      '%30 = pad %2, %29 : f32[4, 8]',
      '%31 = reduce %30 {axis = 1, kind = prod} : f32[4]',
      '%32 = reshape %31 : f32[4, 1]',
    ]);
  });

  test('casts, and none where the dtype is right already', () => {
    const lines = bodyOver((x, z) => z.store(x.load().to(f32).to(f16, { saturate: false }).to(f32)));
    expect(only(lines, 'cast')).toEqual(['%3 = cast %2 {saturate = false} : f16[4, 8]', '%4 = cast %3 : f32[4, 8]']);
  });

  test('select takes numbers on either side', () => {
    const lines = bodyOver((x, z) => {
      z.store(select(x.load().lt(0), 0, x.load()));
      z.store(select(x.load().lt(0), x.load().max(0), Number.NEGATIVE_INFINITY));
    });
    expect(only(lines, 'select')).toEqual([
      expect.stringMatching(/^%\d+ = select %\d+, %\d+, %\d+ : f32\[4, 8\]$/),
      expect.stringMatching(/^%\d+ = select %\d+, %\d+, %\d+ : f32\[4, 8\]$/),
    ]);
    expect(lines).toContainEqual(expect.stringContaining('constant {value = -inf} : f32'));
  });

  test('dot with an accumulator and a precision', () => {
    const lines = bodyOver(
      (x, z) => z.store(dot(x.load(), x.load().transpose(), { acc: ones(f32, [4, 4]), precision: 'tf32' })),
      [4, 4],
    );
    expect(only(lines, 'transpose', 'dot')).toEqual([
      '%6 = transpose %5 {permutation = [1, 0]} : f32[8, 4]',
      '%8 = dot %2, %6 acc(%7) {precision = tf32} : f32[4, 4]',
    ]);
  });

  test('fastMath is on float arithmetic, and only the flags that are true', () => {
    const k = traced(() =>
      blockProgram(
        {
          grid: one,
          inputs: { x: array(f32, [4]) },
          outputs: { z: array(f32, [4]) },
          fastMath: { contract: true, approx: false },
        },
        ({ x, z }) => z.store(x.load().add(iota([4]).add(1).to(f32))),
      ),
    );
    expect(only(bodyOf(k), 'add')).toEqual([
      expect.stringMatching(/^%\d+ = add %\d+, %\d+ : i32\[4\]$/),
      expect.stringMatching(/^%\d+ = add %\d+, %\d+ \{fast = \[contract\]\} : f32\[4\]$/),
    ]);
  });
});

describe('memory', () => {
  test('masks, and what masked lanes are', () => {
    const lines = bodyOver((x, z) => {
      const mask = iota([4, 8], 1).lt(3);
      z.store(x.load({ mask, other: 0.1 }), { mask });
    });
    expect(only(lines, 'load', 'store')).toEqual([
      '%6 = load %x index(%3, %4) mask(%2) other(%5) : f32[4, 8]',
      'store %z, %6 index(%7, %8) mask(%2)',
    ]);
    expect(lines).toContain('%5 = constant {value = 0.10000000149011612} : f32');
  });

  test('gather and scatter broadcast their index tiles; atomics give old values', () => {
    const k = traced(() =>
      blockProgram(
        {
          grid: one,
          inputs: { x: array(f32, [m, n]), p: array(i32, [8]) },
          outputs: { z: array(f32, [8, 8]), h: array(i32, [16]) },
          zeroed: ['h'],
        },
        ({ x, p, z, h }) => {
          const rows = p.load();
          z.store(gather(x, [rows.expand(1), rows.expand(0)], { mask: iota([8, 8]).lt(4), other: 0 }));
          scatter(h, rows, rows.add(1));
          scatter(h, rows, 7);
          atomic.add(h.at(rows), 1);
          atomic.max(h.at(3), rows.sum(0), { order: 'acq_rel', scope: 'system' });
        },
      ),
    );
    expect(irOf(k)).toContain('out %h zeroed: ref<gmem i32[16]>');
    expect(only(bodyOf(k), 'broadcast', 'gather', 'scatter', 'atomic_rmw')).toEqual([
      '%7 = broadcast %2 : i32[8, 8]',
      '%8 = broadcast %3 : i32[8, 8]',
      '%10 = gather %x index(%7, %8) mask(%6) other(%9) : f32[8, 8]',
      'scatter %h, %14 index(%1)',
      'scatter %h, %15 index(%1)',
      '%17 = atomic_rmw %h, %16 index(%1) {kind = add, order = relaxed, scope = device} : i32[8]',
      '%20 = atomic_rmw %h, %18 index(%19) {kind = max, order = acq_rel, scope = system} : i32',
    ]);
  });

  test('an output that takes over an input: both names are one array', () => {
    const k = traced(() => {
      const v = array(f32, [4]);
      return blockProgram(
        { grid: one, inputs: { x: v, y: v }, outputs: { z: v }, aliases: { z: 'x' } },
        ({ x, y, z }) => z.store(x.load().add(y.load())),
      );
    });
    const text = irOf(k);
    expect(text).toContain('  in %y: ref<gmem f32[4]>\n  inout %z alias(x): ref<gmem f32[4]>\n');
    expect(only(text.split('\n'), 'load', 'store')).toEqual([
      '%1 = load %z index(%0) : f32[4]',
      '%3 = load %y index(%2) : f32[4]',
      'store %z, %4 index(%5)',
    ]);
  });

  test('scalars are values of their own', () => {
    const k = traced(() =>
      blockProgram(
        {
          grid: one,
          inputs: { a: scalar(f32), b: scalar(i32), c: scalar(bool) },
          outputs: { z: array(f32, [4]) },
        },
        ({ a, b, c, z }) => z.store(select(c, a, b.to(f32)).broadcastTo([4])),
      ),
    );
    expect(irOf(k)).toContain('  scalar %a: f32\n  scalar %b: i32\n  scalar %c: bool\n');
    expect(bodyOf(k).slice(0, 3)).toEqual([
      '%0 = cast %b : f32',
      '%1 = select %c, %a, %0 : f32',
      '%2 = broadcast %1 : f32[4]',
    ]);
  });
});

describe('control flow', () => {
  test('a loop carries values by name, in the order of the initial ones', () => {
    const lines = bodyOver((x, z) => {
      const { v } = loop(
        { from: 1, to: 9, step: 2, unroll: 4, carry: { v: x.load(), l: full(i32, [], 0) } },
        (k, { v, l }) => ({ l: l.add(k), v: v.mul(2) }),
      );
      z.store(v);
    });
    expect(lines.slice(3, 12)).toEqual([
      '%3 = constant {value = 0} : i32',
      '%4 = constant {value = 1} : i32',
      '%5 = constant {value = 9} : i32',
      '%6 = constant {value = 2} : i32',
      '%7, %8 = for %4, %5, %6 init(%2, %3) {unroll = 4} : f32[4, 8], i32 (%k: i32, %v: f32[4, 8], %l: i32) {',
      '  %9 = add %l, %k : i32',
      '  %10 = constant {value = 2} : f32[4, 8]',
      '  %11 = mul %v, %10 : f32[4, 8]',
      '  yield values(%11, %9)',
    ]);
  });

  test('a while loop has a region for its condition', () => {
    const lines = bodyOver((_, z) => {
      const w = whileLoop(
        full(i32, [], 1),
        (v) => v.lt(10),
        (v) => v.mul(2),
      );
      z.store(w.to(f32).broadcastTo([4, 8]));
    });
    expect(lines.slice(1, 9)).toEqual([
      '%1 = while init(%0) : i32 (%value: i32) {',
      '  %2 = constant {value = 10} : i32',
      '  %3 = lt %value, %2 : bool',
      '  condition %3',
      '} (%value_1: i32) {',
      '  %4 = constant {value = 2} : i32',
      '  %5 = mul %value_1, %4 : i32',
      '  yield values(%5)',
    ]);
  });

  test('ifElse gives the values of a branch, when has effects only', () => {
    const lines = bodyOver((x, z) => {
      const v = x.load();
      const positive = v.sum(1).sum(0).gt(0);
      const { q } = ifElse(
        positive,
        () => ({ q: v }),
        () => ({ q: v.neg() }),
      );
      when(positive, () => z.store(q));
    });
    expect(lines.slice(7)).toEqual([
      '%7 = if %6 : f32[4, 8] () {',
      '  yield values(%2)',
      '} () {',
      '  %8 = neg %2 : f32[4, 8]',
      '  yield values(%8)',
      '}',
      'if %6 () {',
      '  %9 = constant {value = 0} : i32',
      '  %10 = constant {value = 0} : i32',
      '  store %z, %7 index(%9, %10)',
      '  yield',
      '} () {',
      '  yield',
      '}',
    ]);
  });

  test('JavaScript booleans and loops decide while tracing', () => {
    const lines = bodyOver((x, z) => {
      when(false, () => z.store(1));
      when(true, () => z.store(2));
      let v = ifElse(
        true,
        () => x.load(),
        () => zeros(f32, [4, 8]),
      );
      for (let i = 0; i < 3; i++) v = v.neg();
      z.store(v);
    });
    expect(only(lines, 'if', 'for')).toEqual([]);
    expect(only(lines, 'neg')).toHaveLength(3);
    expect(only(lines, 'store')).toHaveLength(2);
  });
});

describe('sequences', () => {
  const step = (g: ReturnType<typeof grid>) => array(f32, [n]).block([64], [g.i!]);

  test('launches in order, temporaries last, costs added up, metadata joined', () => {
    const g = grid({ i: cdiv(n, 64) });
    const w = step(g);
    const k = kernel('two', {}, () =>
      sequence({ temps: { t: w } }, [
        blockProgram(
          {
            grid: g,
            inputs: { x: w, s: scalar(f32) },
            outputs: { t: w },
            costEstimate: { flops: n },
            metadata: { a: '1' },
          },
          ({ x, s, t }) => t.store(x.load().mul(s)),
        ),
        blockProgram(
          {
            grid: g,
            inputs: { t: w, s: scalar(f32) },
            outputs: { z: w },
            costEstimate: { flops: 5 },
            metadata: { b: '2' },
          },
          ({ t, s, z }) => z.store(t.load().add(s)),
        ),
      ]),
    );
    const text = irOf(k);
    expect(text.slice(0, text.indexOf('  launch'))).toBe(`kernel @two {
  dim n
  in %x: ref<gmem f32[n]>
  out %z: ref<gmem f32[n]>
  scalar %s: f32
  temp %t: ref<gmem f32[n]>
  cost flops((n + 5))
  metadata a = "1"
  metadata b = "2"
`);
    expect(text.match(/launch @\w+/g)).toEqual(['launch @two_0', 'launch @two_1']);
    expect(only(text.split('\n'), 'load', 'store')).toEqual([
      '%5 = load %x index(%2) valid(%4) : f32[64]',
      'store %t, %7 index(%2) valid(%4)',
      '%13 = load %t index(%10) valid(%12) : f32[64]',
      'store %z, %15 index(%10) valid(%12)',
    ]);
  });

  test('an output of one program is an input of the next; zeroed counts for it', () => {
    const g = grid({ i: cdiv(n, 64) });
    const w = step(g);
    const k = kernel('chain', {}, () =>
      sequence({ temps: { t: w } }, [
        blockProgram({ grid: g, inputs: { x: w }, outputs: { t: w }, zeroed: ['t'] }, ({ x, t }) => t.store(x.load())),
        blockProgram({ grid: g, inputs: { t: w }, outputs: { y: w } }, ({ t, y }) => y.store(t.load())),
        blockProgram({ grid: g, inputs: { y: w }, outputs: { z: w } }, ({ y, z }) => z.store(y.load())),
      ]),
    );
    expect(k.trace().kernel.params.map((p) => (p.kind === 'array' ? `${p.role} ${p.name}` : p.name))).toEqual([
      'in x',
      'out y',
      'out z',
      'temp t',
    ]);
    expect(irOf(k)).toContain('temp %t zeroed: ref<gmem f32[n]>');
  });
});
