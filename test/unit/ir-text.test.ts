import { describe, expect, test } from '@jest/globals';
import { unknownLoc } from '../../src/diagnostics/location.js';
import { RegionBuilder } from '../../src/ir/builder.js';
import { f32 } from '../../src/ir/dtypes.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { printKernel } from '../../src/ir/printer.js';
import { indexType, refType } from '../../src/ir/types.js';
import { value } from '../../src/ir/value.js';

/** `line:col: message` of everything that is wrong with a text. */
const faultsOf = (text: string): string[] =>
  parseModule(text, 'k.kir').diagnostics.map((d) =>
    d.loc.kind === 'file' ? `${d.loc.line}:${d.loc.col}: ${d.message}` : d.message,
  );

const inLaunch = (ops: string): string => `kernel @k {\nlaunch @k grid() {\n${ops}\n}\n}`;

describe('text that does not parse is refused where it stands', () => {
  test.each([
    ['kern @k {}', "1:1: expected 'kernel', got 'kern'"],
    ['kernel k {}', "1:8: expected a kernel name (@name), got 'k'"],
    [
      'kernel @k {',
      "1:12: expected 'dim', 'in', 'out', 'inout', 'temp', 'scalar', 'cost' or 'launch', got end of file",
    ],
    ['kernel @k { $ }', '1:13: expected a token, got unexpected character "$"'],
    ['kernel @k { "\\x" }', '1:13: expected a token, got bad escape in "\\x"'],
    ['kernel @k { dim n multiple_of(x) }', "1:31: expected an integer, got 'x'"],
    ['kernel @k { in %x: f32[4] }', '1:20: expected ref<gmem …>, got f32[4]'],
    ['kernel @k { scalar %x: f32[4] }', '1:24: expected a scalar type, got f32[4]'],
    ['kernel @k { in %x: ref<hbm f32[4]> }', "1:24: expected one of gmem, smem, tmem, acc, got 'hbm'"],
    ['kernel @k { in %x: ref<gmem f33> }', "1:29: expected a dtype, got 'f33'"],
    ['kernel @k { dim n in %x: ref<gmem f32[(n / 2)]> }', '1:42: expected a token, got unexpected character "/"'],
    [
      'kernel @k { dim n in %x: ref<gmem f32[pow(n, 2)]> }',
      "1:39: expected one of add, sub, mul, floor_div, mod, cdiv, min, max, got 'pow'",
    ],
    [inLaunch('%0 = constant {value = 0} : f32[0]'), "3:33: expected a tile extent from 1 to 2^31 - 1, got '0'"],
    [inLaunch('%0 = constant {value = 0} : f32[-2]'), "3:33: expected a tile extent from 1 to 2^31 - 1, got '-2'"],
    [inLaunch('%0 = constant {value = } : f32'), "3:24: expected a number, string, word or list, got '}'"],
    [inLaunch('%0 = conjure : f32'), "3:6: op 'conjure' is not defined here"],
    [inLaunch('%0 = neg %x : f32'), '3:10: value %x is not defined here'],
    [inLaunch('%0 = constant {value = 1} : f32 loc("a":1)'), "3:42: expected ':', got ')'"],
  ])('%s', (text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test('regions, lists, extents and locations may nest 200 deep, not more', () => {
    const branches = (n: number): string => inLaunch(`${'if %c () {'.repeat(n)}${'yield } () { yield }'.repeat(n)}`);
    const scalar = (text: string): string => text.replace('{\n', '{\nscalar %c: bool\n');
    expect(faultsOf(scalar(branches(199)))).toEqual([]);
    expect(faultsOf(scalar(branches(200)))).toEqual([
      expect.stringContaining('expected regions nested at most 200 deep'),
    ]);
    const deep = (open: string, inner: string, close: string): string => open.repeat(5000) + inner + close.repeat(5000);
    expect(faultsOf(inLaunch(`%0 = constant {value = ${deep('[', '1', ']')}} : f32`))).toEqual([
      expect.stringContaining('expected a shorter list'),
    ]);
    expect(faultsOf(`kernel @k { in %x: ref<gmem f32[${deep('(', 'n', ' + 1)')}]> }`)).toEqual([
      expect.stringContaining('expected a shallower expression'),
    ]);
    expect(faultsOf(`kernel @k loc(${deep('fused<"p">[', 'unknown', ']')}) { }`)).toEqual([
      expect.stringContaining('expected a shallower location'),
    ]);
  });
});

describe('what may be given once is refused a second time', () => {
  test.each([
    ['kernel @k { } kernel @k { }', '1:15: kernel @k is defined twice'],
    ['kernel @k { dim n dim n }', '1:19: dim n is defined twice'],
    ['kernel @k { dim n min(1) min(2) }', "1:26: the fact 'min' is defined twice"],
    ['kernel @k { scalar %a: f32 scalar %a: f32 }', '1:35: value %a is defined twice'],
    ['kernel @k { cost flops(1) cost flops(2) }', '1:27: the cost is defined twice'],
    ['kernel @k { metadata a = "1" metadata a = "2" }', "1:39: metadata 'a' is defined twice"],
    ['kernel @k { launch @k grid(i = 1, i = 2) { } }', '1:35: grid axis i is defined twice'],
    ['kernel @k { launch @k grid() params<triton>{a = 1, a = 2} { } }', "1:52: option 'a' is defined twice"],
    ['kernel @k { launch @k grid() params<triton>{} params<triton>{} { } }', '1:47: backend triton is defined twice'],
    [inLaunch('%0 = constant {value = 0, value = 1} : i32'), "3:27: attribute 'value' is defined twice"],
    [
      inLaunch('%0 = constant {value = 0} : i32\n%1 = extent_mask extents(%0) extents(%0) : bool[4]'),
      "4:30: operand 'extents' is defined twice",
    ],
    [inLaunch('%0 = constant {value = 0} : i32\n%0 = constant {value = 0} : i32'), '4:1: value %0 is defined twice'],
  ])('%s', (text, fault) => {
    expect(faultsOf(text)).toContain(fault);
  });
});

describe('names', () => {
  const printed = (kernel: Kernel): string => printKernel(kernel, { locs: false });
  const isStable = (kernel: Kernel): void => {
    const text = printed(kernel);
    const { module, diagnostics } = parseModule(text, 'k.kir');
    expect(diagnostics).toEqual([]);
    expect(printed(module!.kernels[0]!)).toBe(text);
  };

  /** A kernel with a param and values that would like to have the given names. */
  function named(param: string, hints: readonly (string | undefined)[]): Kernel {
    const body = new RegionBuilder();
    for (const hint of hints)
      body.emit('constant', {}, { value: 0 }, unknownLoc, { types: [indexType], hints: [hint] });
    const x = value(refType('gmem', f32, [4]), param);
    return {
      name: 'k',
      dims: [],
      params: [{ kind: 'array', role: 'in', name: param, value: x, loc: unknownLoc }],
      launches: [{ name: 'k', grid: [], backendParams: [], body: body.finish(), loc: unknownLoc }],
      loc: unknownLoc,
    };
  }
  const valuesOf = (kernel: Kernel): string[] => [...printed(kernel).matchAll(/^ +(%\S+) =/gm)].map((m) => m[1]!);

  test('asked for twice are told apart', () => {
    const kernel = named('x', ['a', 'a', 'x', 'a_1', undefined]);
    expect(valuesOf(kernel)).toEqual(['%a', '%a_1', '%x_1', '%a_1_1', '%0']);
    isStable(kernel);
  });

  test('that are numbers do not clash with the numbers of values without a name', () => {
    const kernel = named('1', [undefined, undefined, '2', undefined]);
    expect(valuesOf(kernel)).toEqual(['%0', '%2', '%"2_1"', '%3']);
    isStable(kernel);
  });

  test('of any text are quoted', () => {
    const kernel = named('größe "x"\n', ['for', 'a-b', '']);
    expect(valuesOf(kernel)).toEqual(['%for', '%"a-b"', '%""']);
    isStable(kernel);
  });

  test('of options and metadata may be words of JavaScript', () => {
    const text = `kernel @k {
  metadata __proto__ = "a"
  metadata constructor = "b"
  launch @k grid() params<mosaic_gpu>{__proto__ = 1, toString = true} {
  }
}
`;
    expect(printed(parseModule(text, 'k.kir').module!.kernels[0]!)).toBe(text);
  });
});
