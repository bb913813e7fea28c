import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { formatNpy, parseNpy } from '../../src/api/npy.js';
import { f16, f32, f64 } from '../../src/ir/dtypes.js';
import { nd } from '../../src/testing/index.js';
import { example, inFolder, tilewright } from '../support/cli.js';
import { describeTool } from '../support/tools.js';

const vectors = (folder: string, n: number): void => {
  const [x, y] = [nd.random(f32, [n], { seed: 1 }), nd.random(f32, [n], { seed: 2 })];
  writeFileSync(join(folder, 'x.npy'), formatNpy(x));
  writeFileSync(join(folder, 'y.npy'), formatNpy(y));
  const [a, b] = [nd.toNumbers(x), nd.toNumbers(y)];
  writeFileSync(
    join(folder, 'z.npy'),
    formatNpy(
      nd.from(
        f64,
        [n],
        a.map((v, i) => v + b[i]!),
      ),
    ),
  );
};

describe('run --target interpret', () => {
  test('runs on .npy files, writes outputs, compares with a reference', () =>
    inFolder(async (cwd) => {
      vectors(cwd, 1003);
      const inputs = ['--input', 'x=@x.npy', '--input', 'y=@y.npy'];
      const { code, stderr } = await tilewright(
        [
          'run',
          example('vector-add'),
          '--target',
          'interpret',
          ...inputs,
          '--output',
          'z=@out.npy',
          '--expect',
          'z=@z.npy',
        ],
        { cwd },
      );
      expect(stderr).toContain('z: all 1003 elements within');
      expect(code).toBe(0);
      expect(parseNpy(readFileSync(join(cwd, 'out.npy')), 'out.npy').shape).toEqual([1003]);
    }));

  test('a comparison that fails is exit code 1 and shows the first mismatches', () =>
    inFolder(async (cwd) => {
      vectors(cwd, 64);
      writeFileSync(join(cwd, 'wrong.npy'), formatNpy(nd.zeros(f64, [64])));
      const { code, stderr } = await tilewright(
        [
          'run',
          example('vector-add'),
          '--target',
          'interpret',
          '--input',
          'x=@x.npy',
          '--input',
          'y=@y.npy',
          '--expect',
          'z=@wrong.npy',
        ],
        { cwd },
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/z: 64 of 64 elements differ/);
      expect(stderr).toMatch(/\[0\]: expected 0, got /);
    }));

  test('random inputs, and a summary where no file is asked for', async () => {
    const { code, stdout } = await tilewright([
      'run',
      example('vector-add'),
      '--target',
      'interpret',
      '--input',
      'n=5',
      '--input',
      'x=random:1',
      '--input',
      'y=random:2',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^z: f32\[5\] = (-?[\d.e-]+(, )?){5}\n$/);
  });
});

describe('bad input', () => {
  const fails = async (
    args: readonly string[],
    expected: number,
    ...texts: readonly (string | RegExp)[]
  ): Promise<void> => {
    const { code, stderr, stdout } = await tilewright(args);
    for (const text of texts) expect(stderr).toMatch(text);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).not.toMatch(/\n\s+at .*\.js:\d+/);
  };
  const add = example('vector-add');

  test('an unknown parameter suggests the nearest', () =>
    // No place is shown: the command line has none.
    fails(['check', add, '-D', 'blok=3'], 1, /^error\[TW1040\]: .*\nhelp: did you mean 'block'\?\n$/));
  test('an unknown kernel suggests the nearest', () =>
    fails(['check', add, '-k', 'vector_ad'], 1, 'TW1405', "did you mean 'vector_add'?"));
  test('a kernel file that does not exist', () => fails(['check', 'nowhere.kernel.ts'], 1, 'TW4301', 'no such file'));
  test('a stage that the target does not have', () =>
    fails(['build', add, '--emit', 'cubin'], 1, 'TW2004', "target 'cpu' has no stage 'cubin'"));
  test('an unknown target suggests the nearest', () =>
    fails(['build', add, '--target', 'gfx943'], 1, 'TW2002', "did you mean 'gfx942'?"));
  test('a target that is compiled for, but not run here', () =>
    fails(['run', add, '--target', 'sm_90', '--input', 'n=4'], 1, 'TW2004', "target 'sm_90a' has no stage 'so'"));
  test('a missing input', () =>
    fails(['run', add, '--target', 'interpret', '--input', 'x=random:1', '--input', 'n=4'], 1, 'TW4101', "needs 'y'"));
  test('a name that the kernel does not have', () =>
    fails(['run', add, '--target', 'interpret', '--input', 'q=1'], 1, 'TW4102', "'q'"));
  test('an output that it does not have', () =>
    fails(['run', add, '--target', 'interpret', '--output', 'q=@q.npy'], 2, 'TW4016', 'its outputs are z'));
  test('an unknown flag', () => fails(['run', add, '--inputt', 'x=1'], 2, 'TW4001', "did you mean '--input'?"));
  test('an unknown command', () => fails(['biuld'], 2, 'TW4002', "did you mean 'build'?"));
  test('several artifacts into one file', () =>
    fails(['build', add, '--emit', 'kir,mlir', '-o', 'one.kir'], 2, 'TW4010'));
  test('an output folder that cannot be made', () =>
    fails(['build', add, '--emit', 'kir', '-o', '/dev/null/x.kir'], 1, 'TW4302'));
  test.each([
    ['nowhere/z.npy', 'its folder does not exist'],
    ['.', 'it is a folder'],
  ])('an output %s that cannot be written', (path, why) => {
    const inputs = ['--input', 'n=5', '--input', 'x=random:1', '--input', 'y=random:2'];
    return fails(['run', add, '--target', 'interpret', ...inputs, '--output', `z=@${path}`], 1, 'TW4302', why);
  });

  test('a file with a syntax error, at its line', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'bad.kernel.ts'), 'const a = 1;\nexport const b = = 2;\n');
      const { code, stderr } = await tilewright(['check', 'bad.kernel.ts'], { cwd });
      expect(code).toBe(1);
      expect(stderr).toMatch(/error\[TW1402\]: Unexpected "="\n --> bad.kernel.ts:2:18\n/);
    }));

  test('an exception in user code: the user’s frames, not ours', () =>
    inFolder(async (cwd) => {
      writeFileSync(
        join(cwd, 'throws.kernel.ts'),
        'function inner(): never {\n  throw new TypeError("mine");\n}\ninner();\nexport {};\n',
      );
      const { code, stderr } = await tilewright(['check', 'throws.kernel.ts'], { cwd });
      expect(code).toBe(1);
      expect(stderr).toMatch(/TW1403\]: uncaught exception: TypeError: mine\n --> throws.kernel.ts:2:9/);
      expect(stderr).toContain('throws.kernel.ts:4:1');
    }));

  test('a mistake in a kernel: its line, both dtypes, the way out', () =>
    inFolder(async (cwd) => {
      const source = readFileSync(add, 'utf8')
        .replace('x.load().add(y.load())', 'x.load().add(y.load().to(i32))')
        .replace('bf16,', 'bf16, i32,');
      writeFileSync(join(cwd, 'mixed.kernel.ts'), source);
      const { code, stderr } = await tilewright(['check', 'mixed.kernel.ts'], { cwd });
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /error\[TW1010\]: 'add' needs equal dtypes, got f32 and i32\n\s+--> mixed.kernel.ts:\d+:\d+/,
      );
      expect(stderr).toContain('help: convert one side: .to(f32) or .to(i32)');
    }));

  test.each([
    ['a wrong dtype', formatNpy(nd.zeros(f16, [8])), /TW4103.*'x': expected ref<gmem f32\[n\]>, got an array f16\[8\]/],
    ['a wrong rank', formatNpy(nd.zeros(f32, [4, 2])), /TW4103.*got an array f32\[4, 2\]/],
    [
      'a truncated file',
      formatNpy(nd.zeros(f32, [8])).subarray(0, 140),
      /TW4303.*truncated: 32 bytes of data are announced, 12 are there/,
    ],
    ['no .npy file at all', Buffer.from('hello'), /TW4303.*it is not an .npy file/],
    ['a size that does not fit', formatNpy(nd.zeros(f32, [9])), /TW4104.*'y': axis 0 must be n = 9, got 8/],
  ])('%s', (_, bytes, expected) =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'x.npy'), bytes);
      writeFileSync(join(cwd, 'y.npy'), formatNpy(nd.zeros(f32, [8])));
      const { code, stderr } = await tilewright(
        ['run', add, '--target', 'interpret', '--input', 'x=@x.npy', '--input', 'y=@y.npy'],
        { cwd },
      );
      expect(stderr).toMatch(expected);
      expect(code).toBe(1);
    }),
  );

  test('a loop that does not end stops at --max-steps, at the loop', () =>
    inFolder(async (cwd) => {
      writeFileSync(
        join(cwd, 'endless.kir'),
        'kernel @endless {\n  out %y: ref<gmem i32[1]>\n  launch @endless grid() {\n    %0 = constant {value = 1} : i32\n    %1 = while init(%0) : i32 (%a: i32) {\n      %2 = eq %0, %0 : bool\n      condition %2\n    } (%b: i32) {\n      yield values(%b)\n    }\n    %3 = reshape %1 : i32[1]\n    %4 = constant {value = 0} : i32\n    store %y, %3 index(%4)\n  }\n}\n',
      );
      const { code, stderr } = await tilewright(
        ['run', 'endless.kir', '--target', 'interpret', '--max-steps', '1000'],
        { cwd },
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/TW5002\]: stopped after 1000 steps/);
    }));
});

describe('kernel IR on the command line', () => {
  test('build --emit kir, opt, and reading it back', async () => {
    const { stdout: kir } = await tilewright(['build', example('softmax'), '--emit', 'kir', '-o', '-']);
    const same = await tilewright(['opt', '-'], { input: kir });
    expect(same.stdout).toBe(kir);
    const lowered = await tilewright(['opt', '-', '--pipeline', 'lower'], { input: kir });
    expect(lowered.stdout).toContain('extent_mask');
    const direct = await tilewright(['build', example('softmax'), '--emit', 'lowered.kir', '-o', '-']);
    expect(lowered.stdout).toBe(direct.stdout);
  });

  test('an unknown pass suggests the nearest', async () => {
    const { code, stderr } = await tilewright(['opt', '-', '--pipeline', 'canonicalise'], {
      input: 'kernel @k {\n}\n',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/TW0107.*\n?.*did you mean 'canonicalize'\?/s);
  });

  test('text that does not parse, at its place', async () => {
    const { code, stderr } = await tilewright(['opt', '-'], { input: 'kernel @k {\n  dim\n}\n' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/TW0001\]: expected a dim name, got '}'\n\s+--> <stdin>:3:1/);
  });

  test('--print-ir-after and --time-passes name the passes', async () => {
    const { stderr } = await tilewright(['check', example('softmax'), '--print-ir-after', 'dce', '--time-passes']);
    expect(stderr).toContain('// after dce\nkernel @softmax');
    expect(stderr).toMatch(/\d+\.\d\d ms {2}legalize-ragged/);
    const diff = await tilewright(['check', example('softmax'), '--print-ir-diff']);
    expect(diff.stderr).toMatch(/^-.*constant \{value = 0\}/m);
  });
});

test('explain prints what a code means', async () => {
  const { code, stdout } = await tilewright(['explain', 'TW1010']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^error\[TW1010\]: operands have different dtypes\n\n/);
});

test('diagnostics as JSON and SARIF are one document each', async () => {
  const json = await tilewright(['check', 'nowhere.ts', '--diagnostics=json']);
  expect(JSON.parse(json.stderr).diagnostics[0].code).toBe('TW4301');
  const sarif = await tilewright(['check', 'nowhere.ts', '--diagnostics=sarif']);
  expect(JSON.parse(sarif.stderr).runs[0].results[0].ruleId).toBe('TW4301');
});

describe('a machine without tools', () => {
  const bare = (folder: string): Record<string, string> => ({
    TILEWRIGHT_CACHE_DIR: join(folder, 'cache'),
    PATH: join(folder, 'bin'),
    MLIR_OPT: '',
  });
  const kernelArgs = ['--input', 'n=4', '--input', 'x=random:1', '--input', 'y=random:2'];

  test('run falls back to the interpreter with one line', () =>
    inFolder(async (folder) => {
      const { code, stderr, stdout } = await tilewright(['run', example('vector-add'), ...kernelArgs], {
        env: bare(folder),
      });
      expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 0, lines: 1 });
      expect(stderr).toContain('running the interpreter');
      expect(stdout).toMatch(/^z: f32\[4\]/);
    }));

  test('an explicit --target cpu is exit code 3 and says what was looked at and how to get it', () =>
    inFolder(async (folder) => {
      const { code, stderr } = await tilewright(['run', example('vector-add'), ...kernelArgs, '--target', 'cpu'], {
        env: bare(folder),
      });
      expect(code).toBe(3);
      expect(stderr).toMatch(/TW3002\]: mlir-opt was not found/);
      expect(stderr).toContain('looked at MLIR_OPT (not set)');
      expect(stderr).toContain('help: run: tilewright toolchain install mlir');
    }));

  test('a tool that is too old names its version and the one that is needed', () =>
    inFolder(async (folder) => {
      const old = join(folder, 'mlir-opt');
      writeFileSync(old, '#!/bin/sh\necho "LLVM version 14.0.6"\n');
      chmodSync(old, 0o755);
      const { code, stderr } = await tilewright(
        ['build', example('vector-add'), '--mlir-opt', old, '-o', join(folder, 'k.so')],
        { env: { TILEWRIGHT_CACHE_DIR: join(folder, 'cache') } },
      );
      expect(code).toBe(3);
      expect(stderr).toMatch(/TW3003\]: mlir-opt at .* is version 14\.0\.6; LLVM 22\.1 is needed/);
    }));
});

describeTool('mlir', 'compiling on the command line', () => {
  test('build writes each artifact whole and says so; a second build is a cache hit', () =>
    inFolder(async (folder) => {
      const env = { TILEWRIGHT_CACHE_DIR: process.env.TILEWRIGHT_CACHE_DIR ?? '' };
      const first = await tilewright(
        ['build', example('vector-add'), '-o', `${folder}/out/`, '--cache-dir', join(folder, 'cache')],
        { env },
      );
      expect({ code: first.code, files: readdirSync(join(folder, 'out')).sort() }).toEqual({
        code: 0,
        files: ['vector_add.cpu.plan.json', 'vector_add.cpu.so'],
      });
      const second = await tilewright(
        ['build', example('vector-add'), '-o', `${folder}/out/`, '--cache-dir', join(folder, 'cache')],
        { env },
      );
      expect(second.stderr).toMatch(/vector_add\.cpu\.so {2}[\d.]+ k?B {2}cache hit/);
      const plan = JSON.parse(readFileSync(join(folder, 'out/vector_add.cpu.plan.json'), 'utf8'));
      expect(plan.params.map((p: { name: string; role: string }) => `${p.role} ${p.name}`)).toEqual([
        'in x',
        'in y',
        'out z',
      ]);
    }));

  test('a dump holds every stage, and each text stage goes on from there to the same bytes', () =>
    inFolder(async (folder) => {
      const dumped = await tilewright([
        'build',
        example('softmax'),
        '--emit',
        'so',
        '-o',
        join(folder, 'direct.so'),
        '--dump-dir',
        join(folder, 'd'),
      ]);
      expect(dumped.code).toBe(0);
      const files = readdirSync(join(folder, 'd')).sort();
      expect(files).toEqual([
        '00-softmax.kir',
        '01-softmax.lowered.kir',
        '02-softmax.mlir',
        '03-softmax.llvm.mlir',
        '04-softmax.ll',
        '05-softmax.bc',
        '06-softmax.s',
        '07-softmax.o',
        '08-softmax.so',
        '09-softmax.plan.json',
        'manifest.json',
      ]);
      const direct = readFileSync(join(folder, 'direct.so'));
      for (const file of files.slice(1, 6)) {
        const out = join(folder, `${file}.so`);
        const { code, stderr } = await tilewright(['build', join(folder, 'd', file), '-o', out, '--no-cache']);
        expect({ file, code, stderr: code === 0 ? '' : stderr }).toEqual({ file, code: 0, stderr: '' });
        expect({ file, same: readFileSync(out).equals(direct) }).toEqual({ file, same: true });
      }
      expect(readFileSync(join(folder, 'd/02-softmax.mlir'), 'utf8').split('\n')[0]).toBe(
        '// go on from here: tilewright build 02-softmax.mlir --start-from=mlir --target cpu -o kernel.so',
      );
      const manifest = JSON.parse(readFileSync(join(folder, 'd/manifest.json'), 'utf8'));
      expect(manifest.stages.map((s: { tool: string }) => s.tool)).toEqual([
        'mlir-opt',
        'mlir-translate',
        'opt',
        'llc',
        'llc',
        'cc',
      ]);
    }));

  test('--dry-run prints commands that a shell takes, and runs none', async () => {
    const { code, stdout } = await tilewright(['build', example('softmax'), '-###']);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(5);
    expect(stdout).toMatch(/mlir-opt softmax\.mlir '--pass-pipeline=builtin\.module\(/);
    expect(existsSync('softmax.llvm.mlir')).toBe(false);
  });

  test('--time prints the median and rates', async () => {
    const sizes = ['m', 'n', 'k'].flatMap((d) => ['--input', `${d}=64`]);
    const { code, stderr } = await tilewright([
      'run',
      example('matmul'),
      ...sizes,
      '--input',
      'a=random:1',
      '--input',
      'b=random:2',
      '--time',
      '3',
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/median of 3 runs: [\d.]+ ms, [\d.]+ GB\/s, [\d.]+ GFLOP\/s/);
  });

  test('the same kernel gives the same bytes in another folder and locale', () =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, 'a b'));
      writeFileSync(join(folder, 'a b/softmax.kernel.ts'), readFileSync(example('softmax')));
      const emit = ['--emit', 'kir,lowered.kir,mlir,ll,s,so,plan.json', '--no-cache'];
      const one = await tilewright(['build', example('softmax'), ...emit, '-o', `${folder}/1/`]);
      const two = await tilewright(['build', 'softmax.kernel.ts', ...emit, '-o', `${folder}/2/`], {
        cwd: join(folder, 'a b'),
        env: { LANG: 'tr_TR.UTF-8', TZ: 'Asia/Tokyo' },
      });
      expect([one.code, two.code]).toEqual([0, 0]);
      for (const file of readdirSync(join(folder, '1')))
        expect({
          file,
          same: readFileSync(join(folder, '1', file)).equals(readFileSync(join(folder, '2', file))),
        }).toEqual({ file, same: true });
    }));
});
