import { describe, expect, test } from '@jest/globals';
import { CompileError, InternalError } from '../../src/diagnostics/diagnostic.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { type Pass, parsePipeline, runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passes, passRegistry } from '../../src/ir/passes/index.js';
import { printKernel } from '../../src/ir/printer.js';
import { mapBodies } from '../../src/ir/rewrite.js';
import { verifyKernel } from '../../src/ir/verifier.js';

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error, got none');
}

function kernelOf(ops: string, head = ''): Kernel {
  const text = `kernel @k { ${head} out %y: ref<gmem i32[4]> launch @k grid() { ${ops} } }`;
  const { module, diagnostics } = parseModule(text, 'k.kir');
  expect(diagnostics).toEqual([]);
  return module!.kernels[0]!;
}

const read = (text: string): readonly (readonly [string, unknown])[] =>
  parsePipeline(text, passRegistry).map((p) => [p.name, p.options] as const);

describe('a pipeline', () => {
  test('is names separated by commas, spaces and empty parts aside', () => {
    expect(read('cse, dce,')).toEqual([
      ['cse', undefined],
      ['dce', undefined],
    ]);
    expect(read('')).toEqual([]);
  });

  test('takes options in braces, commas among them', () => {
    expect(read('canonicalize{fold_limit=8,},cse{}')).toEqual([
      ['canonicalize', { fold_limit: 8 }],
      ['cse', {}],
    ]);
  });

  test('may name another', () => {
    expect(read('lower').map(([name]) => name)).toEqual(loweringPipeline.map((p) => p.name));
  });

  test.each([
    ['csee', "there is no pass 'csee'", "did you mean 'cse'?"],
    ['whatever', "there is no pass 'whatever'", '`tilewright opt --list` lists the passes'],
    ['cse{limit=1}', "pass 'cse' has no option 'limit'", 'it has none'],
    ['canonicalize{foldlimit=1}', "pass 'canonicalize' has no option 'foldlimit'", "did you mean 'fold_limit'?"],
    [
      'canonicalize{fold_limit=many}',
      "option 'fold_limit' of pass 'canonicalize' must be an integer, got 'many'",
      'write it as `canonicalize{fold_limit=64}`',
    ],
    ['canonicalize{fold_limit=1', "cannot read 'canonicalize{fold_limit=1'", 'a pipeline is written as'],
    ['cse dce', "cannot read 'cse dce'", 'a pipeline is written as'],
  ])('%s is refused', (text, message, help) => {
    const error = caught(() => parsePipeline(text, passRegistry)) as CompileError;
    expect(error.diagnostics.map((d) => [d.code, d.message])).toEqual([['TW0107', message]]);
    expect(error.diagnostics[0]!.help).toContain(help);
  });
});

describe('running passes', () => {
  const identity: Pass = { name: 'identity', summary: '', run: (kernel) => kernel };

  test('refuses a kernel that is not valid, with all of its faults', () => {
    const kernel = kernelOf('%0 = dim {name = "p"} : i32 %1 = dim {name = "q"} : i32');
    const error = caught(() => runPasses(kernel, [])) as CompileError;
    expect(error).toBeInstanceOf(CompileError);
    expect(error.diagnostics.map((d) => d.message)).toEqual([
      "dim 'p' is not defined here",
      "dim 'q' is not defined here",
    ]);
  });

  test('blames the pass that breaks a kernel by its name', () => {
    const breaks: Pass = {
      name: 'break-it',
      summary: '',
      run: (kernel) => mapBodies(kernel, ({ args, ops }) => ({ args, ops: ops.slice(1) })),
    };
    const kernel = kernelOf('%0 = constant {value = 1} : i32 %1 = add %0, %0 : i32');
    const error = caught(() => runPasses(kernel, [identity, breaks])) as InternalError;
    expect(error).toBeInstanceOf(InternalError);
    expect(error.message).toContain("pass 'break-it' left invalid kernel IR: 'add' uses a value of type i32");
  });

  test('shows each pass what it got and gave', () => {
    const kernel = kernelOf('%0 = constant {value = 1} : i32');
    const seen: unknown[] = [];
    const [dce] = parsePipeline('dce', passRegistry);
    runPasses(kernel, [identity, dce!], {
      after: (pass, before, after) =>
        seen.push([pass, before.launches[0]!.body.ops.length, after.launches[0]!.body.ops.length]),
    });
    expect(seen).toEqual([
      ['identity', 1, 1],
      ['dce', 1, 0],
    ]);
  });

  test.each(passes.map((p) => [p.name, p] as const))(
    '%s gives back a kernel that it has nothing to do on',
    (_, pass) => {
      const kernel = kernelOf(`
      %0 = constant {value = 0} : i32
      %1 = iota {axis = 0} : i32[4]
      store %y, %1 index(%0)`);
      expect(runPasses(kernel, [pass])).toBe(kernel);
    },
  );
});

describe('canonicalize', () => {
  const folded = (ops: string, options = ''): string =>
    printKernel(runPasses(kernelOf(ops), parsePipeline(`canonicalize${options},dce`, passRegistry)), { locs: false });
  const store = (value: string): string => `%z = constant {value = 0} : i32 store %y, ${value} index(%z)`;
  const four = (op: string): string => folded(`${op} %b = broadcast %r : i32[4] ${store('%b')}`);

  test.each([
    ['%a = constant {value = 2147483647} : i32 %r = add %a, %a : i32', -2],
    ['%a = constant {value = -7} : i32 %c = constant {value = 2} : i32 %r = floor_div %a, %c : i32', -4],
    ['%a = constant {value = 1} : i32 %c = constant {value = 32} : i32 %r = shl %a, %c : i32', 0],
    ['%a = constant {value = 2.5} : f32 %q = round %a : f32 %r = cast %q : i32', 2],
    ['%a = constant {value = nan} : f32 %r = cast %a : i32', 0],
    ['%a = constant {value = 3} : i32[8] %r = reduce %a {axis = 0, kind = sum} : i32', 24],
    ['%a = constant {value = 3} : i32[8] %r = reduce %a {axis = 0, kind = argmin} : i32', 0],
  ])('folds %s', (ops, expected) => {
    expect(four(ops)).toContain(`constant {value = ${expected}} : i32[4]`);
  });

  test('folds what is larger than the limit only element by element', () => {
    const ops = `%a = constant {value = 3} : i32[8] %r = reduce %a {axis = 0, kind = sum} : i32 %b = broadcast %r : i32[4] ${store('%b')}`;
    expect(folded(ops, '{fold_limit=7}')).toContain('reduce');
    expect(folded(ops, '{fold_limit=8}')).not.toContain('reduce');
  });

  const x = '%p = iota {axis = 0} : i32[4] %x = mul %p, %p : i32[4]';
  test.each([
    ['add %x, %zero', '%x'],
    ['add %zero, %x', '%x'],
    ['sub %x, %zero', '%x'],
    ['mul %one, %x', '%x'],
    ['div %x, %one', '%x'],
    ['and %x, %x', '%x'],
    ['or %x, %zero', '%x'],
    ['max %x, %x', '%x'],
    ['shl %x, %zero', '%x'],
    ['sub %x, %x', '0'],
    ['xor %x, %x', '0'],
    ['mul %x, %zero', '0'],
    ['and %x, %zero', '0'],
    ['rem %x, %one', '0'],
  ])('integers: %s is %s', (op, expected) => {
    const text = folded(
      `${x} %zero = constant {value = 0} : i32[4] %one = constant {value = 1} : i32[4] %r = ${op} : i32[4] ${store('%r')}`,
    );
    if (expected === '0') expect(text).toMatch(/(%\d+) = constant \{value = 0\} : i32\[4\](.|\n)*store %y, \1 /);
    else expect(text).toContain('store %y, %x ');
  });

  test('floats: nothing is dropped that changes a zero or a NaN', () => {
    const text = folded(`${x} %f = cast %x : f32[4] %zero = constant {value = 0} : f32[4]
      %a = add %f, %zero : f32[4] %b = mul %a, %zero : f32[4] %c = sub %b, %b : f32[4] %d = sub %c, %zero : f32[4]
      %e = eq %d, %d : bool[4] %r = cast %e : i32[4] ${store('%r')}`);
    expect(text.match(/ = (add|mul|sub|eq) /g)).toEqual([
      ' = mul ',
      ' = add ',
      ' = mul ',
      ' = sub ',
      ' = sub ',
      ' = eq ',
    ]);
  });

  test('chains of movements are one, or none', () => {
    const text = folded(`${x}
      %a = reshape %x : i32[2, 2] %b = transpose %a {permutation = [1, 0]} : i32[2, 2]
      %c = transpose %b {permutation = [1, 0]} : i32[2, 2] %d = reshape %c : i32[4, 1] %e = reshape %d : i32[4]
      %f = neg %e : i32[4] %g = neg %f : i32[4] ${store('%g')}`);
    expect(text).toContain('store %y, %x ');
    expect(text).not.toMatch(/reshape|transpose|neg/);
  });

  test('masks that cover all, or nothing, are constants', () => {
    const mask = (n: number): string =>
      folded(`${x} %n = constant {value = ${n}} : i32 %m = extent_mask extents(%n) : bool[4]
        %q = constant {value = 9} : i32[4] %r = select %m, %x, %q : i32[4] ${store('%r')}`);
    expect(mask(4)).toContain('store %y, %x ');
    expect(mask(0)).toContain('store %y, %q ');
    expect(mask(3)).toContain('select');
  });

  test('loops that make no trip give their initial values', () => {
    const text = folded(`${x} %0 = constant {value = 3} : i32 %1 = constant {value = 1} : i32
      %a = for %0, %0, %1 init(%x) : i32[4] (%k: i32, %v: i32[4]) { %w = add %v, %v : i32[4] yield values(%w) }
      %b = while init(%a) : i32[4] (%v2: i32[4]) { %no = constant {value = 0} : bool condition %no }
        (%v3: i32[4]) { %w2 = add %v3, %v3 : i32[4] yield values(%w2) }
      ${store('%b')}`);
    expect(text).toContain('store %y, %x ');
    expect(text).not.toMatch(/for|while/);
  });
});

test('fuse-accumulate leaves a dot where it is: moved into a loop it would run on each trip', () => {
  const kernel = kernelOf(`
    %0 = constant {value = 0} : i32 %1 = constant {value = 1} : i32 %3 = constant {value = 3} : i32
    %a = constant {value = 1} : f32[4, 4] %d = dot %a, %a {precision = ieee} : f32[4, 4]
    %r = for %0, %3, %1 init(%a) : f32[4, 4] (%k: i32, %acc: f32[4, 4]) {
      %s = add %acc, %d : f32[4, 4]
      yield values(%s)
    }`);
  expect(runPasses(kernel, parsePipeline('fuse-accumulate', passRegistry))).toBe(kernel);
});

test('loops nested 150 deep are verified and lowered', () => {
  const levels = Array.from({ length: 150 }, (_, i) => i);
  const open = levels.map((i) => `%r${i} = for %0, %1, %1 init(%a${i}) : i32[4] (%k${i}: i32, %a${i + 1}: i32[4]) {`);
  const close = levels.map((i) => `yield values(${i === 0 ? '%s' : `%r${150 - i}`}) }`);
  const kernel = kernelOf(
    `%a0 = constant {value = 1} : i32[4] %0 = constant {value = 0} : i32 %1 = constant {value = 1} : i32
    ${open.join('\n')} %n = dim {name = "n"} : i32 %t = load %x index(%0) valid(%n) : i32[4] %s = add %a150, %t : i32[4]
    ${close.join('\n')} %o = reduce %r0 {axis = 0, kind = sum} : i32 %p = broadcast %o : i32[4] store %y, %p index(%0)`,
    'dim n in %x: ref<gmem i32[n]>',
  );
  expect(verifyKernel(kernel)).toEqual([]);
  const lowered = runPasses(kernel, loweringPipeline);
  expect(verifyKernel(lowered)).toEqual([]);
  expect(printKernel(lowered)).toContain('extent_mask');
});
