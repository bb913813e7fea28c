import { describe, expect, test } from '@jest/globals';
import { RaggedAnalysis } from '../../src/ir/analyses/ragged.js';
import { ValueNumbers } from '../../src/ir/analyses/value-numbers.js';
import type { Launch } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import type { GenericOp, Value } from '../../src/ir/value.js';
import { walk } from '../../src/ir/walk.js';

interface Parsed {
  readonly launch: Launch;
  /** A value by the name that the text gives it. */
  readonly value: (name: string) => Value;
  readonly op: (name: string) => GenericOp;
}

function parsed(ops: string): Parsed {
  const { module, diagnostics } = parseModule(
    `kernel @k { dim n dim m in %x: ref<gmem f32[n]> in %z: ref<gmem f32[m]> in %w: ref<gmem f32[n, m]>
      launch @k grid(i = 4) { ${ops} } }`,
    'k.kir',
  );
  expect(diagnostics).toEqual([]);
  const launch = module!.kernels[0]!.launches[0]!;
  const values = new Map<string, Value>();
  const ops_ = new Map<string, GenericOp>();
  walk(launch.body, (op) => {
    ops_.set(op.name, op);
    for (const v of [...op.results, ...op.regions.flatMap((r) => r.args)]) if (v.hint) values.set(v.hint, v);
  });
  return { launch, value: (name) => values.get(name)!, op: (name) => ops_.get(name)! };
}

const head = '%zero = constant {value = 0} : i32 %n = dim {name = "n"} : i32 %m = dim {name = "m"} : i32 ';

/** Names of a tile's extents, `-` where it is full. */
function extentsOf(ops: string, name: string): string[] {
  const { launch, value } = parsed(head + ops);
  const analysis = new RaggedAnalysis(launch);
  expect(analysis.diagnostics).toEqual([]);
  return analysis.of(value(name)).map((e) => e?.hint ?? '-');
}

describe('extents', () => {
  const w = '%t = load %w index(%zero, %zero) valid(%n, %m) : f32[4, 8] ';

  test.each([
    ['a load', '', 't', ['n', 'm']],
    [
      'a load that counts as whole',
      '%r = load %w index(%zero, %zero) valid(%n, %m) {whole = true} : f32[4, 8]',
      'r',
      ['-', '-'],
    ],
    [
      'a constant that covers the axis',
      '%c = constant {value = 8} : i32 %r = load %w index(%zero, %zero) valid(%n, %c) : f32[4, 8]',
      'r',
      ['n', '-'],
    ],
    [
      'a constant that does not',
      '%c = constant {value = 7} : i32 %r = load %w index(%zero, %zero) valid(%n, %c) : f32[4, 8]',
      'r',
      ['n', 'c'],
    ],
    ['a mask', '%c = ne %t, %t : bool[4, 8] %r = load %w index(%zero, %zero) mask(%c) : f32[4, 8]', 'r', ['n', 'm']],
    [
      'an elementwise op of a ragged and a full tile',
      '%f = constant {value = 1} : f32[4, 8] %r = add %f, %t : f32[4, 8]',
      'r',
      ['n', 'm'],
    ],
    ['a transpose', '%r = transpose %t {permutation = [1, 0]} : f32[8, 4]', 'r', ['m', 'n']],
    ['a reduction', '%r = reduce %t {axis = 0, kind = sum} : f32[8]', 'r', ['m']],
    ['a reshape that adds an axis', '%r = reshape %t : f32[4, 1, 8]', 'r', ['n', '-', 'm']],
    ['a broadcast', '%a = reduce %t {axis = 0, kind = sum} : f32[8] %r = broadcast %a : f32[4, 8]', 'r', ['-', 'm']],
    ['a dot', '%f = constant {value = 1} : f32[8, 2] %r = dot %t, %f {precision = ieee} : f32[4, 2]', 'r', ['n', '-']],
    ['a pad', '%f = constant {value = 1} : f32 %r = pad %t, %f : f32[4, 8]', 'r', ['-', '-']],
  ])('of %s', (_, ops, name, expected) => {
    expect(extentsOf(w + ops, name)).toEqual(expected);
  });

  test('computed in the same way are the same', () => {
    expect(
      extentsOf(
        `%p = program_id {axis = "i"} : i32 %c = constant {value = 4} : i32
        %s = mul %p, %c : i32 %e = sub %n, %s : i32
        %c2 = constant {value = 4} : i32 %s2 = mul %c2, %p : i32 %e2 = sub %n, %s2 : i32
        %a = load %x index(%s) valid(%e) : f32[4] %b = load %x index(%s2) valid(%e2) : f32[4]
        %r = add %a, %b : f32[4]`,
        'r',
      ),
    ).toEqual(['e']);
  });

  const one = '%one = constant {value = 1} : i32 %f = constant {value = 0} : f32[4] ';

  test('of a carried value are what the body returns, through loops inside of loops', () => {
    const ops = `${one} %r = for %zero, %n, %one init(%f) : f32[4] (%k: i32, %outer: f32[4]) {
      %i = for %zero, %n, %one init(%outer) : f32[4] (%l: i32, %inner: f32[4]) {
        %t = load %x index(%zero) valid(%n) : f32[4] %s = add %inner, %t : f32[4] yield values(%s)
      }
      yield values(%i)
    }`;
    for (const name of ['r', 'outer', 'i', 'inner']) expect([name, extentsOf(ops, name)]).toEqual([name, ['n']]);
  });

  test('go around values that change places, as many as there are', () => {
    const names = Array.from({ length: 20 }, (_, i) => `v${i}`);
    const ops = `${one} %t = load %x index(%zero) valid(%n) : f32[4]
      ${names.map((v) => `%r${v}`).join(', ')} = for %zero, %n, %one init(${names.map(() => '%f').join(', ')}) : ${names.map(() => 'f32[4]').join(', ')}
      (%k: i32, ${names.map((v) => `%${v}: f32[4]`).join(', ')}) {
        yield values(${[...names.slice(1).map((v) => `%${v}`), '%t'].join(', ')})
      }`;
    expect(extentsOf(ops, 'rv0')).toEqual(['n']);
  });

  test('of a branch are those of both ways', () => {
    const ops = `${one} %c = eq %zero, %n : bool %r = if %c : f32[4] () { yield values(%f) } () {
      %t = load %x index(%zero) valid(%n) : f32[4] yield values(%t)
    }`;
    expect(extentsOf(ops, 'r')).toEqual(['n']);
  });

  test('that leave a loop name the ops that compute them, in order and no others', () => {
    const { launch, op } = parsed(`${head}${one} %r = for %zero, %n, %one init(%f) : f32[4] (%k: i32, %acc: f32[4]) {
      %unused = add %k, %one : i32 %d = dim {name = "n"} : i32 %p = program_id {axis = "i"} : i32 %e = sub %d, %p : i32
      %t = load %x index(%k) valid(%e) : f32[4] %s = add %acc, %t : f32[4] yield values(%s)
    }`);
    const escaping = new RaggedAnalysis(launch).escaping(op('for'));
    expect(escaping.map((o) => o.results[0]!.hint)).toEqual(['d', 'p', 'e']);
  });
});

describe('what does not fit says where the extents come from', () => {
  const found = (ops: string): unknown[] =>
    new RaggedAnalysis(parsed(head + ops).launch).diagnostics.map((d) => [d.code, d.notes.map((n) => n.message)]);

  test('two origins', () => {
    const ops = `%a = load %x index(%zero) valid(%n) : f32[4] %b = load %z index(%zero) valid(%m) : f32[4]
      %r = add %a, %b : f32[4]`;
    expect(found(ops)).toEqual([['TW0103', ['one is valid up to this extent', 'the other up to this one']]]);
  });

  test('an extent that changes from trip to trip', () => {
    const ops = `%one = constant {value = 1} : i32 %f = constant {value = 0} : f32[4]
      %r = for %zero, %n, %one init(%f) : f32[4] (%k: i32, %acc: f32[4]) {
        %e = sub %n, %k : i32 %t = load %x index(%k) valid(%e) : f32[4] yield values(%t)
      }`;
    expect(found(ops)).toEqual([['TW0104', ['the extent is computed here']]]);
  });
});

test('value numbers: equal for one computation, whatever the order of commuting operands', () => {
  const { launch, value } = parsed(`${head} %a = add %n, %m : i32 %b = add %m, %n : i32
    %c = sub %n, %m : i32 %d = sub %m, %n : i32 %e = mul %a, %c : i32 %g = mul %c, %b : i32
    %l = load %z index(%zero) {axes = []} : f32 %l2 = load %z index(%zero) {axes = []} : f32`);
  const numbers = new ValueNumbers(launch.body);
  const same = (a: string, b: string): boolean => numbers.of(value(a)) === numbers.of(value(b));
  expect([same('a', 'b'), same('c', 'd'), same('e', 'g'), same('l', 'l2')]).toEqual([true, false, true, false]);
});
