import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CompileError, ToolError } from '../../src/diagnostics/diagnostic.js';
import { type CpuJob, runCpu, withCpuSession } from '../../src/drivers/cpu-runner.js';
import { run, toolError } from '../../src/drivers/run.js';
import { findTool } from '../../src/drivers/tool.js';
import { inFolder } from '../support/cli.js';
import { withEnvironment } from '../support/environment.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

describeTool('mlir', 'the CPU runner', () => {
  /** A library of one launch `k`, from C, with `body` for each program `i`. */
  async function libraryOf(body: string): Promise<Uint8Array> {
    let library = new Uint8Array();
    await inFolder(async (folder) => {
      const [source, made] = [join(folder, 'k.c'), join(folder, 'k.so')];
      const parameters = 'void *const *p, const long *s, void *scratch, long lo, long hi';
      writeFileSync(source, `void k(${parameters}) { for (long i = lo; i < hi; i++) { ${body} } }`);
      const { path } = await findTool('cc');
      const outcome = await run('cc', path, ['-O1', '-shared', '-fPIC', '-o', made, source]);
      if (!outcome.ok) throw toolError(outcome);
      library = readFileSync(made);
    });
    return library;
  }
  const jobOf = (library: Uint8Array, programs: number, threads: number): CpuJob => ({
    library,
    buffers: [],
    launches: [{ symbol: 'k', programs, pointers: [], scalars: [], scratchBytes: 0 }],
    threads,
  });

  test.each([1, 3, 300])('every program runs once, on %d threads', async (threads) => {
    const library = await libraryOf('((int *)p[1])[i] += ((const int *)p[0])[i] + (int)s[0];');
    const n = 1001;
    const input = new Uint8Array(Int32Array.from({ length: n }, (_, i) => i).buffer);
    const { outputs, nanoseconds } = await runCpu(
      {
        ...jobOf(library, n, threads),
        buffers: [
          { bytes: 4 * n, input, output: false },
          { bytes: 4 * n, output: true },
        ],
        launches: [{ symbol: 'k', programs: n, pointers: [0, 1], scalars: [-7n], scratchBytes: 0 }],
      },
      { repeat: 2 },
    );
    expect([...outputs.keys()]).toEqual([1]);
    expect(nanoseconds).toHaveLength(2);
    const made = new Int32Array(Uint8Array.from(outputs.get(1)!).buffer);
    expect([...made]).toEqual(Array.from({ length: n }, (_, i) => 2 * (i - 7)));
  });

  test('scratch memory is aligned, and each thread has its own', async () => {
    const library = await libraryOf(
      '*(volatile long *)scratch = i; for (volatile int w = 0; w < 1000; w++); ((long *)p[0])[i] = (long)scratch % 64 + *(volatile long *)scratch - i;',
    );
    const { outputs } = await runCpu({
      ...jobOf(library, 200, 4),
      buffers: [{ bytes: 1600, input: new Uint8Array(1600).fill(1), output: true }],
      launches: [{ symbol: 'k', programs: 200, pointers: [0], scalars: [], scratchBytes: 8 }],
    });
    expect(Buffer.from(outputs.get(0)!).equals(Buffer.alloc(1600))).toBe(true);
  });

  test.each([
    [1000, 1, 'one of the programs 744 to 805'],
    [1000, 1000, 'program 777'],
  ])('a crash among %d programs on %d threads says where', async (programs, threads, where) => {
    const job = jobOf(await libraryOf('if (i == 777) *(volatile int *)8 = 1;'), programs, threads);
    const [d] = await diagnosticsOf(() => runCpu(job));
    expect(d!.message).toBe(`kernel crashed with SIGSEGV in ${where} of launch k`);
  });

  test('a kernel that crashes is at fault, not a tool', async () => {
    const job = jobOf(await libraryOf('*(volatile int *)8 = 1;'), 1, 1);
    await expect(runCpu(job)).rejects.toThrow(CompileError);
    await expect(runCpu(jobOf(Buffer.from('no library'), 1, 1))).rejects.toThrow(ToolError);
  });

  test.each([0, 1, 63, 64, 65, 4000, 4096, 4097, 10_000])(
    'an array of %d bytes is whole and aligned',
    async (bytes) => {
      const library = await libraryOf('((char *)p[0])[i] += 1 + (long)p[0] % 64;');
      const input = Uint8Array.from({ length: bytes }, (_, i) => i);
      const { outputs } = await runCpu({
        ...jobOf(library, bytes, 2),
        buffers: [{ bytes, input, output: true }],
        launches: [{ symbol: 'k', programs: bytes, pointers: [0], scalars: [], scratchBytes: 0 }],
      });
      expect([...outputs.get(0)!]).toEqual(Array.from(input, (x) => (x + 1) % 256));
    },
  );

  test.each([
    ['an array', 0, 'p[0]', 0],
    ['an array', 64, 'p[0]', 64],
    ['an array', 4096, 'p[0]', 4096],
    ['an array', 4096, 'p[0]', -1],
    ['an array', 4000, 'p[0]', 4032],
    ['scratch memory', 100, 'scratch', 128],
  ])('an access beyond %s of %d bytes is a crash: %s[%d]', async (_, bytes, base, at) => {
    const library = await libraryOf(`if (i == 1) ((volatile char *)${base})[s[0]] = 1;`);
    const job = {
      ...jobOf(library, 2, 1),
      buffers: [{ bytes, output: false }],
      launches: [{ symbol: 'k', programs: 2, pointers: [0], scalars: [BigInt(at)], scratchBytes: bytes }],
    };
    const [d] = await diagnosticsOf(() => runCpu(job));
    expect(d!.message).toBe('kernel crashed with SIGSEGV in program 1 of launch k');
  });

  test('one that never ends is stopped', async () => {
    const job = jobOf(await libraryOf('for (volatile int w = 0;; w = 0);'), 4, 2);
    const [d] = await diagnosticsOf(() => runCpu(job, { timeout: 300 }));
    expect(`${d!.code} ${d!.message}`).toBe('TW3031 the kernel did not end within 0.3 s');
    await withCpuSession(
      job,
      async ({ time }) => {
        const [inSession] = await diagnosticsOf(() => time(1));
        expect(inSession!.code).toBe('TW3031');
      },
      { timeout: 300 },
    );
  });

  test('a session gives a time for each run, and a crash is an error of its call', async () => {
    await withCpuSession(jobOf(await libraryOf('__asm__ volatile("");'), 10, 2), async ({ time }) => {
      for (const count of [1, 3]) {
        const times = await time(count);
        expect(times).toHaveLength(count);
        for (const t of times) expect(Number.isSafeInteger(t) && t > 0).toBe(true);
      }
    });
    await withCpuSession(jobOf(await libraryOf('*(volatile int *)8 = 1;'), 1, 1), async ({ time }) => {
      const [d] = await diagnosticsOf(() => time(2));
      expect(d!.message).toBe('kernel crashed with SIGSEGV in program 0 of launch k');
    });
    await withCpuSession(jobOf(Buffer.from('no library'), 1, 1), async ({ time }) => {
      const [d] = await diagnosticsOf(() => time(2));
      expect(d!.message).toContain('cannot load');
    });
  });

  test('a cache folder that cannot be written costs no result', () =>
    inFolder(async (folder) => {
      const library = await libraryOf('__asm__ volatile("");');
      const file = join(folder, 'file');
      writeFileSync(file, '');
      await withEnvironment({ TILEWRIGHT_CACHE_DIR: file }, async () => {
        expect((await runCpu(jobOf(library, 1, 1))).nanoseconds).toHaveLength(1);
      });
    }));

  test('a job whose library is not one', async () => {
    const [d] = await diagnosticsOf(() => runCpu(jobOf(Buffer.from('not a library'), 1, 1)));
    expect(d!.code).toBe('TW3001');
  });
});
