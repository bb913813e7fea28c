import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Float16Array } from '@petamoriken/float16';
import { type CpuJob, runCpu } from '../../src/drivers/cpu-runner.js';
import { buildCpu, cpuStages, stagesFor } from '../../src/drivers/mlir.js';
import { findTool, type ToolPaths } from '../../src/drivers/tool.js';
import { inFolder } from '../support/cli.js';
import { withEnvironment } from '../support/environment.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

describe('command lines', () => {
  const options = { target: { cpu: 'x86-64-v3' }, lineInfo: true };
  test('stages for what is wanted, and no others', () => {
    expect(stagesFor('mlir', ['so'], options).map((s) => s.stage)).toEqual(['llvm.mlir', 'll', 'bc', 'obj', 'so']);
    expect(stagesFor('mlir', ['s', 'll'], options).map((s) => s.stage)).toEqual(['llvm.mlir', 'll', 'bc', 's']);
    expect(stagesFor('ll', ['obj'], options).map((s) => s.stage)).toEqual(['bc', 'obj']);
  });
  test('always a triple and a processor', () => {
    for (const tool of ['opt', 'llc'])
      expect(
        cpuStages(options)
          .find((s) => s.tool === tool)!
          .args('in', 'out'),
      ).toEqual(expect.arrayContaining(['-mtriple=x86_64-unknown-linux-gnu', '-mcpu=x86-64-v3']));
  });
  test('flags of the user come behind ours', () => {
    const cc = cpuStages({ ...options, extra: { cc: ['-Wl,-s'] } }).find((s) => s.stage === 'so')!;
    expect(cc.args('k.o', 'k.so')).toEqual([
      '-shared',
      '-nostdlib',
      '-Wl,--build-id=none',
      '-Wl,-z,noexecstack',
      '-Wl,-s',
      '-x',
      'none',
      'k.o',
      '-o',
      'k.so',
      '-Wl,--as-needed',
      '-lm',
    ]);
  });
});

/** A launch that stores through a pointer it makes up. */
const crashing = `"builtin.module"() ({
  "func.func"() <{sym_name = "crash", function_type = (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()}> ({
  ^bb0(%0: !llvm.ptr, %1: !llvm.ptr, %2: !llvm.ptr, %3: i64, %4: i64):
    %5 = "llvm.inttoptr"(%3) : (i64) -> (!llvm.ptr)
    "llvm.store"(%3, %5) <{alignment = 1 : i64, ordering = 0 : i64, volatile_ = unit}> : (i64, !llvm.ptr) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
`;

const crashingJob = (library: Uint8Array): CpuJob => ({
  library,
  buffers: [],
  launches: [{ symbol: 'crash', programs: 5, pointers: [], scalars: [], scratchBytes: 0 }],
  threads: 1,
});

/** Every dialect that the stages take, on blocks of 16: y = shuffle(floor(roundeven(sqrt(x * 2 + 2)))), h = f16(y), sum += y. */
const dialects = `module {
  func.func @k(%pointers: !llvm.ptr, %scalars: !llvm.ptr, %scratch: !llvm.ptr, %lo: i64, %hi: i64) {
    %c1 = arith.constant 1 : i64
    %c16 = arith.constant 16 : i64
    %half = arith.constant 0.5 : f32
    %none = arith.constant dense<0.0> : vector<16xf32>
    %two = arith.constant dense<2.0> : vector<16xf32>
    %mask = arith.constant dense<[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0]> : vector<16xi1>
    %x = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %y_ = llvm.getelementptr %pointers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %y_ : !llvm.ptr -> !llvm.ptr
    %h_ = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %h = llvm.load %h_ : !llvm.ptr -> !llvm.ptr
    %sum_ = llvm.getelementptr %pointers[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %sum = llvm.load %sum_ : !llvm.ptr -> !llvm.ptr
    scf.for %p = %lo to %hi step %c1 : i64 {
      %at = arith.muli %p, %c16 : i64
      %xp = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %yp = llvm.getelementptr %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %hp = llvm.getelementptr %h[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f16
      %0 = llvm.intr.masked.load %xp, %mask, %none {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
      %1 = math.fma %0, %two, %two : vector<16xf32> loc("k.ts":7:5)
      %2 = math.sqrt %1 : vector<16xf32> loc("k.ts":8:5)
      %3 = math.roundeven %2 : vector<16xf32>
      %4 = math.floor %3 : vector<16xf32>
      %5 = vector.shuffle %4, %4 [1,0,3,2,5,4,7,6,9,8,11,10,13,12,15,14] : vector<16xf32>, vector<16xf32>
      llvm.intr.masked.store %5, %yp, %mask {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
      %6 = arith.truncf %5 : vector<16xf32> to vector<16xf16>
      llvm.store %6, %hp {alignment = 2 : i64} : vector<16xf16>, !llvm.ptr
      %7 = vector.reduction <add>, %4 : vector<16xf32> into f32
      %8 = vector.broadcast %7 : f32 to vector<16xf32>
      %9 = vector.insert %half, %8[0] : f32 into vector<16xf32>
      %10 = vector.extract %9[3] : f32 from vector<16xf32>
      %11 = llvm.atomicrmw fadd %sum, %10 monotonic : !llvm.ptr, f32
    }
    return
  }
}
`;

describeTool('mlir', 'MLIR and LLVM tools', () => {
  const options = { target: { cpu: 'x86-64-v3' }, lineInfo: false };

  test('all stages of a module of every dialect, with lines, and its results', async () => {
    const wanted = ['ll', 's', 'so'];
    const { artifacts, records } = await buildCpu('mlir', Buffer.from(dialects), wanted, {
      ...options,
      lineInfo: true,
    });
    expect(records.map((r) => `${r.stage}: ${r.tool}`)).toEqual([
      'llvm.mlir: mlir-opt',
      'll: mlir-translate',
      'bc: opt',
      's: llc',
      'obj: llc',
      'so: cc',
    ]);
    const made = new Map(records.map((r) => [r.stage, r.sha256Out]));
    expect(records.slice(1).map((r) => r.sha256In)).toEqual(
      ['llvm.mlir', 'll', 'bc', 'bc', 'obj'].map((stage) => made.get(stage)),
    );
    expect(Buffer.from(artifacts.get('ll')!).toString()).toContain('filename: "k.ts"');
    expect(Buffer.from(artifacts.get('s')!).toString()).toMatch(/\.loc\s+\d+ 8 5/);
    const n = 64;
    const x = Float32Array.from({ length: n }, (_, i) => i);
    const { outputs } = await runCpu({
      library: artifacts.get('so')!,
      buffers: [
        { bytes: 4 * n, input: new Uint8Array(x.buffer), output: false },
        { bytes: 4 * n, output: true },
        { bytes: 2 * n, output: true },
        { bytes: 4, output: true },
      ],
      launches: [{ symbol: 'k', programs: n / 16, pointers: [0, 1, 2, 3], scalars: [], scratchBytes: 0 }],
      threads: 2,
    });
    const rounded = Array.from(x, (v, i) => Math.round(Math.sqrt((i % 16 === 15 ? 0 : v) * 2 + 2)));
    const swapped = rounded.map((_, i) => rounded[i ^ 1]!);
    const floats = (i: number): number[] => [...new Float32Array(outputs.get(i)!.slice().buffer)];
    expect(floats(1)).toEqual(swapped.map((v, i) => (i % 16 === 15 ? 0 : v)));
    expect(floats(3)).toEqual([rounded.reduce((a, b) => a + b)]);
    expect([...new Float16Array(outputs.get(2)!.slice().buffer)]).toEqual(swapped);
  });

  test('a kernel that crashes is a diagnostic with signal, program and launch', async () => {
    const { artifacts } = await buildCpu('mlir', Buffer.from(crashing), ['so'], options);
    const [d] = await diagnosticsOf(() => runCpu(crashingJob(artifacts.get('so')!)));
    expect(`${d!.code} ${d!.message}`).toBe('TW3030 kernel crashed with SIGSEGV in program 0 of launch crash');
    expect(d!.help).toContain('--target interpret');
  });

  test('temporary folders with spaces', () =>
    inFolder(async (folder) => {
      const TMPDIR = join(folder, 'with space');
      mkdirSync(TMPDIR);
      // By name, since the other cache folder has no tool sets.
      const names = ['mlir-opt', 'mlir-translate', 'opt', 'llc'] as const;
      const tools: ToolPaths = Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, (await findTool(name)).path])),
      );
      await withEnvironment({ TMPDIR, TILEWRIGHT_CACHE_DIR: join(folder, 'a cache') }, async () => {
        const { artifacts } = await buildCpu('mlir', Buffer.from(crashing), ['so'], { ...options, tools });
        const [d] = await diagnosticsOf(() => runCpu(crashingJob(artifacts.get('so')!)));
        expect(d!.code).toBe('TW3030');
      });
      expect(readdirSync(TMPDIR)).toEqual([]);
    }));

  test('MLIR that does not parse is an error of mlir-opt, without paths of this machine', async () => {
    const [d] = await diagnosticsOf(() => buildCpu('mlir', Buffer.from('"func.func"() <{'), ['ll'], options));
    expect(d!.code).toBe('TW3001');
    expect(d!.message).toMatch(/^mlir-opt ended with exit code 1: kernel\.mlir:\d+:\d+: error: /);
    expect(JSON.stringify(d)).not.toMatch(/tilewright-[A-Za-z0-9]/);
  });

  test('an error at a location of the kernel points at its line', async () => {
    const bad = '"builtin.module"() ({\n  "arith.addi"() : () -> () loc("my.kernel.ts":7:3)\n}) : () -> ()\n';
    const [d] = await diagnosticsOf(() => buildCpu('mlir', Buffer.from(bad), ['ll'], options));
    expect(d!.loc).toEqual({ kind: 'file', file: 'my.kernel.ts', line: 7, col: 3 });
  });

  test('text that does not parse points at the location that its line carries', async () => {
    const bad =
      '"builtin.module"() ({\n  "arith.constant"() <{value = 1 : q9}> : () -> (i64) loc("k.ts":4:9)\n}) : () -> ()\n';
    const [d] = await diagnosticsOf(() => buildCpu('mlir', Buffer.from(bad), ['ll'], options));
    expect(d!.message).toContain('kernel.mlir:2:');
    expect(d!.loc).toEqual({ kind: 'file', file: 'k.ts', line: 4, col: 9 });
  });
});
