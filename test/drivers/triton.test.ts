import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Diagnostic, ToolError } from '../../src/diagnostics/diagnostic.js';
import { sha256 } from '../../src/drivers/fingerprint.js';
import type { ForkServer, JobFailed } from '../../src/drivers/fork-server.js';
import { jobError } from '../../src/drivers/triton/failure.js';
import { resolveOptions } from '../../src/drivers/triton/options.js';
import {
  buildTriton,
  imageStage,
  type TritonBuildOptions,
  type TritonJob,
  type TritonStage,
  tritonStages,
  workerRequest,
} from '../../src/drivers/triton/stages.js';
import { withTritonWorker } from '../../src/drivers/triton/worker.js';
import { findGpuTarget } from '../../src/lowering/gpu-target.js';
import { inFolder } from '../support/cli.js';
import { withEnvironment } from '../support/environment.js';
import { childrenOf, commandOf } from '../support/processes.js';
import { script } from '../support/scripts.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

const text = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../support/ttir/${name}.ttir`, import.meta.url)), 'utf8');
const [scale, matmul] = [text('scale'), text('matmul')];

const job = (text: string, targetName: string, more: Partial<TritonJob> = {}): TritonJob => {
  const target = findGpuTarget(targetName)!;
  return {
    from: 'ttir',
    input: Buffer.from(text),
    wanted: [imageStage(target)],
    target,
    options: resolveOptions({}, target),
    lineInfo: true,
    name: 'scale',
    ...more,
  };
};

/** A kernel whose body is `lines`, each at its own line of `bad.kernel.ts`. */
const kernelOf = (...lines: string[]): string =>
  [
    'module {',
    '  tt.func public @bad(%p: !tt.ptr<f32>) {',
    ...lines.map((l, i) => `    ${l} loc("bad.kernel.ts":${i + 1}:5)`),
    '    tt.return',
    '  }',
    '}',
  ].join('\n');

/** Sorts out of a register file what no machine has: takes long in every stage. */
const huge = kernelOf(
  '%a = arith.constant dense<1.0> : tensor<512x512xf32>',
  '%ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x512x!tt.ptr<f32>>',
  '%v = tt.load %ps : tensor<512x512x!tt.ptr<f32>>',
  '%t = tt.trans %v {order = array<i32: 1, 0>} : tensor<512x512xf32> -> tensor<512x512xf32>',
  'tt.store %ps, %t : tensor<512x512x!tt.ptr<f32>>',
);

/** One worker for the tests of a file: as in a run of the command line, a failed job leaves it well. */
function sharedWorker(): () => ForkServer {
  let worker: ForkServer;
  let end: () => void;
  let gone: Promise<void>;
  beforeAll(
    () =>
      new Promise<void>((ready) => {
        gone = withTritonWorker({}, (w) => {
          worker = w;
          ready();
          return new Promise<void>((done) => {
            end = done;
          });
        });
      }),
  );
  afterAll(async () => {
    end();
    await gone;
  });
  return () => worker;
}

describeTool('triton', 'the Triton worker', () => {
  const worker = sharedWorker();
  /** Processes of the shared worker. */
  const known = new Set<number>();
  beforeAll(async () => {
    await worker().about();
    for (const pid of childrenOf(process.pid)) known.add(pid);
  });

  test('NVIDIA: every stage, and what the kernel takes', async () => {
    const wanted: TritonStage[] = ['ttir', 'ttgir', 'llir', 'ptx', 'cubin'];
    const { artifacts, records, report } = await buildTriton(worker(), job(scale, 'sm_90a', { wanted }));
    const made = (s: TritonStage): string => Buffer.from(artifacts.get(s)!).toString('utf8');
    expect(made('ttir')).toBe(scale);
    expect(made('ttgir')).toContain('ttg.target = "cuda:90"');
    expect(made('ptx')).toMatch(/\.target sm_90a/);
    expect(made('ptx')).toContain('.file\t1 "scale.kernel.ts"');
    expect(made('cubin').slice(1, 4)).toBe('ELF');
    expect(records.map((r) => `${r.tool} ${r.stage}`)).toEqual([
      'triton ttgir',
      'triton llir',
      'triton ptx',
      'ptxas-blackwell cubin',
    ]);
    expect(report.metadata).toMatchObject({ name: 'scale', shared: 0, num_warps: 4, global_scratch_size: 0 });
    expect(report.resources).toMatchObject({ threads: 128, sharedBytes: 0, spills: 0, stackBytes: 0 });
    expect(report.resources.registers).toBeGreaterThan(8);
  });

  test('AMD: every stage, and what the kernel takes', async () => {
    const wanted: TritonStage[] = ['ttgir', 'llir', 'amdgcn', 'hsaco'];
    const { artifacts, report } = await buildTriton(worker(), job(scale, 'gfx942', { wanted }));
    expect(Buffer.from(artifacts.get('amdgcn')!).toString('utf8')).toContain('amdhsa.kernels');
    expect(Buffer.from(artifacts.get('hsaco')!).toString('latin1').slice(1, 4)).toBe('ELF');
    expect(report.resources).toMatchObject({ threads: 256, sharedBytes: 0, spills: 0, stackBytes: 0 });
    expect(report.resources.registers).toBeGreaterThan(2);
  });

  test.each(['sm_80', 'sm_90a', 'gfx942'])(
    '%s: outputs are the same in every folder, environment and run',
    async (name) => {
      const wanted = tritonStages(findGpuTarget(name)!).slice(1);
      const hashes = async (by: ForkServer): Promise<string[]> => {
        const { artifacts } = await buildTriton(by, job(matmul, name, { wanted }));
        for (const bytes of artifacts.values()) expect(Buffer.from(bytes).includes(tmpdir())).toBe(false);
        return wanted.map((s) => sha256(artifacts.get(s)!));
      };
      const first = await hashes(worker());
      await inFolder((TMPDIR) =>
        withEnvironment({ TMPDIR, TRITON_DISABLE_LINE_INFO: '1', TRITON_OVERRIDE_ARCH: 'sm75' }, async () => {
          expect(await hashes(worker())).toEqual(first);
          expect(await withTritonWorker({}, hashes)).toEqual(first);
        }),
      );
    },
  );

  test.each([
    ['sm_80', 'ptx', /mma\.sync/g, /cp\.async/],
    ['sm_90a', 'ptx', /wgmma\.mma_async/g, /cp\.async/],
    ['sm_100a', 'ptx', /tcgen05\.mma/g, /cp\.async/],
    ['gfx90a', 'amdgcn', /v_mfma/g, /ds_read|ds_write/],
    ['gfx942', 'amdgcn', /v_mfma/g, /ds_read|ds_write/],
    ['gfx950', 'amdgcn', /v_mfma/g, /buffer_load.*lds|global_load_lds|ds_read/],
    ['gfx1100', 'amdgcn', /v_wmma/g, /ds_load|ds_store/],
    ['gfx1201', 'amdgcn', /v_wmma/g, /ds_load|ds_store/],
  ] as const)('%s: a dot uses matrix instructions, and loads go ahead of it', async (name, stage, matrix, ahead) => {
    const options = resolveOptions({ numWarps: 8 }, findGpuTarget(name)!);
    const { artifacts } = await buildTriton(worker(), job(matmul, name, { wanted: [stage], options }));
    const assembly = Buffer.from(artifacts.get(stage)!).toString('utf8');
    expect(assembly.match(matrix)?.length).toBeGreaterThan(1);
    expect(assembly).toMatch(ahead);
  });

  test('goes on from every stage to the same image', async () => {
    for (const name of ['sm_90a', 'gfx942']) {
      const target = findGpuTarget(name)!;
      const stages = [...tritonStages(target)];
      const { artifacts } = await buildTriton(worker(), job(scale, name, { wanted: stages }));
      const image = imageStage(target);
      for (const from of stages.slice(0, -1)) {
        const again = await buildTriton(worker(), job(scale, name, { from, input: artifacts.get(from)! }));
        expect([name, from, again.artifacts.has(image)]).toEqual([name, from, true]);
        // From text the compiler has forgotten which file it came from; the code is the same size.
        if (from === 'ptx' || from === 'amdgcn' || from === 'llir')
          expect(again.artifacts.get(image)).toEqual(artifacts.get(image));
      }
    }
  });

  test('without line info no file is named', async () => {
    const { artifacts } = await buildTriton(
      worker(),
      job(scale, 'sm_90a', { wanted: ['ptx', 'cubin'], lineInfo: false }),
    );
    expect(Buffer.from(artifacts.get('ptx')!).toString('utf8')).not.toContain('kernel.ts');
    expect(Buffer.from(artifacts.get('cubin')!).toString('latin1')).not.toContain('kernel.ts');
  });

  test("an error of the verifier is at the user's line", async () => {
    const text = kernelOf(
      '%a = arith.constant dense<0> : tensor<16xi32>',
      '%b = "tt.make_range"() <{start = 0 : i32, end = 24 : i32}> : () -> tensor<16xi32>',
    );
    const [d] = await failing(text);
    expect(`${d!.code} ${d!.message}`).toMatch(/^TW3001 triton failed in stage 'ttir': .*(24|range)/);
    expect(d!.loc).toMatchObject({ file: 'bad.kernel.ts', line: 2, col: 5 });
    expect(d!.notes.map((n) => n.message).join('\n')).toMatch(
      /to reproduce it: tilewright build \S+\/failures\/scale-\w+\.ttir --start-from=ttir --target sm_90a -Xtriton num_warps=4 /,
    );
  });

  test('an error of the parser, too', async () => {
    const [d] = await failing(kernelOf('%a = tt.bogus %p : i32'));
    expect(d!.message).toBe("triton failed in stage 'ttir': custom op 'tt.bogus' is unknown");
    expect(d!.loc).toMatchObject({ file: 'bad.kernel.ts', line: 1, col: 5 });
  });

  test("an error of NVIDIA's assembler is at the user's line, too", async () => {
    const lines = [
      '.version 8.8\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 p)\n{',
      '.reg .b32 %r<4>;\n\t.loc\t1 7 3\n add.s32 %r1, %r2, %r3;\n\t.loc\t1 8 5',
      'add.s32 %r1, %r2, %q9;\n.loc 1 9 9\n ret;\n}\n\t.file\t1 "bad.kernel.ts"',
    ];
    const input = Buffer.from(lines.join('\n'));
    const [d] = await diagnosticsOf(() => buildTriton(worker(), job('', 'sm_80', { from: 'ptx', input })));
    expect(`${d!.code} ${d!.message}`).toMatch(/^TW3001 ptxas ended with exit code 255: .*Arguments mismatch/);
    expect(d!.loc).toMatchObject({ file: 'bad.kernel.ts', line: 8, col: 5 });
    expect(d!.notes[0]!.message).toMatch(
      /^to reproduce it: tilewright build \S+\.ptx --start-from=ptx --target sm_80 /,
    );
  });

  test('a crash of the compiler costs that job only', async () => {
    const bits = kernelOf(
      '%m = arith.constant dense<true> : tensor<16xi1>',
      '%q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i1>',
      '%qs = tt.splat %q : !tt.ptr<i1> -> tensor<16x!tt.ptr<i1>>',
      'tt.store %qs, %m : tensor<16x!tt.ptr<i1>>',
    );
    const [broken, fine] = await Promise.allSettled([
      buildTriton(worker(), job(bits, 'sm_90a')),
      buildTriton(worker(), job(scale, 'sm_90a')),
    ]);
    expect(fine.status).toBe('fulfilled');
    const [d] = (broken as { reason: ToolError }).reason.diagnostics;
    expect(`${d!.code} ${d!.message}`).toMatch(/^TW3040 triton crashed with SIGABRT in stage 'llir': .*Assertion/);
  });

  test('a job that takes too long is stopped', async () => {
    const [d] = await failing(huge, { timeout: 400 });
    expect(`${d!.code} ${d!.message}`).toMatch(/^TW3041 triton did not end within 0.4 s, in stage '\w+'/);
  });

  test('a job is cancelled, and the next one runs', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const started = performance.now();
    const [d] = await failing(huge, { signal: controller.signal });
    expect(d!.message).toBe('triton was cancelled');
    expect(performance.now() - started).toBeLessThan(2000);
    expect((await buildTriton(worker(), job(scale, 'sm_80'))).artifacts.has('cubin')).toBe(true);
  });

  test('a worker that is killed midway is an error, and the next call has another', () =>
    withTritonWorker({}, async (own) => {
      const work = buildTriton(own, job(huge, 'sm_90a'));
      const settled = diagnosticsOf(() => work);
      await own.about();
      await new Promise((done) => setTimeout(done, 200));
      const [pid] = childrenOf(process.pid).filter((p) => commandOf(p).includes('triton-worker.py') && !known.has(p));
      const jobs = childrenOf(pid!);
      expect(jobs).toHaveLength(1);
      process.kill(pid!, 'SIGKILL');
      const [d] = await settled;
      expect(`${d!.code} ${d!.message}`).toBe('TW3042 the worker of triton was stopped by SIGKILL');
      expect((await buildTriton(own, job(scale, 'sm_80'))).artifacts.has('cubin')).toBe(true);
      expect(jobs.filter((p) => commandOf(p) !== '')).toEqual([]);
    }));

  test('no process outlives the scope', async () => {
    let pids: number[] = [];
    await withTritonWorker({}, async (own) => {
      void buildTriton(own, job(huge, 'sm_90a')).catch(() => {});
      await own.about();
      await new Promise((done) => setTimeout(done, 200));
      const [pid] = childrenOf(process.pid).filter((p) => commandOf(p).includes('triton-worker.py') && !known.has(p));
      pids = [pid!, ...childrenOf(pid!)];
      expect(pids).toHaveLength(2);
    });
    expect(pids.filter((p) => commandOf(p) !== '')).toEqual([]);
  });

  test('a disk without room is told as that', () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'kernel.ttir'), scale);
      symlinkSync('/dev/full', join(folder, 'kernel.llir'));
      const full = job(scale, 'gfx942');
      const reply = await worker().run(workerRequest(full, 'hsaco', folder, undefined));
      expect(reply).toMatchObject({ ok: false, failure: 'disk', stage: 'llir' });
      const { diagnostics } = await jobError(reply as JobFailed, full, 'llir');
      expect(`${diagnostics[0]!.code} ${diagnostics[0]!.message}`).toMatch(/^TW3021 .*No space left on device/);
    }));

  async function failing(text: string, limits: TritonBuildOptions = {}): Promise<readonly Diagnostic[]> {
    return diagnosticsOf(() => buildTriton(worker(), job(text, 'sm_90a'), limits));
  }
});

describe('a worker that is not what it should be', () => {
  const answering = (body: string, work: (python: string) => Promise<void>): Promise<void> =>
    inFolder((folder) => work(script(folder, 'python', body)));
  const hello = (version: string): string => `echo '{"ready": true, "version": "${version}"}'; read request`;
  const compile = (python: string) =>
    diagnosticsOf(() => withTritonWorker({ python }, (w) => buildTriton(w, job(scale, 'gfx942'))));

  test('of the wrong version', () =>
    answering(hello('3.1.0'), async (python) => {
      const [d] = await compile(python);
      expect(`${d!.code} ${d!.message}`).toBe(`TW3003 triton at ${python} is version 3.1.0; 3.9 is needed`);
      expect(d!.help).toBe('run: tilewright toolchain install triton');
    }));

  test('that cannot start', () =>
    answering('echo "ModuleNotFoundError: No module named \'triton\'" >&2; exit 1', async (python) => {
      const [d] = await compile(python);
      expect(`${d!.code} ${d!.message}`).toBe(
        "TW3042 the worker of triton ended with exit code 1: ModuleNotFoundError: No module named 'triton'",
      );
    }));

  test.each(['echo hello; read request', `${hello('3.9.0')}; echo Traceback; read end`])(
    'that is another program: %s',
    (body) =>
      answering(body, async (python) => {
        const [d] = await compile(python);
        expect(`${d!.code} ${d!.message}`).toMatch(
          /^TW3042 the worker of triton (is another program: hello|was cancelled)$/,
        );
      }),
  );

  test('that has no room left', () =>
    answering(
      `${hello('3.9.0')}; echo '{"id": 1, "ok": false, "failure": "disk", "stage": "llir", "error": "OSError: No space left on device", "log": ""}'; read end`,
      async (python) => {
        const [d] = await compile(python);
        expect(`${d!.code} ${d!.message}`).toBe(
          `TW3021 temporary files cannot be written to ${tmpdir()} (OSError: No space left on device)`,
        );
      },
    ));

  test('that is not installed', () =>
    inFolder((folder) =>
      withEnvironment({ TILEWRIGHT_CACHE_DIR: folder }, async () => {
        const [d] = await diagnosticsOf(() => withTritonWorker({}, (w) => buildTriton(w, job(scale, 'gfx942'))));
        expect(`${d!.code} ${d!.message} ${d!.help}`).toBe(
          'TW3002 triton was not found run: tilewright toolchain install triton',
        );
      }),
    ));
});
