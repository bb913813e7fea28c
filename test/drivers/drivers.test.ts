import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Float16Array } from '@petamoriken/float16';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { ArtifactCache, publishFolder } from '../../src/drivers/cache.js';
import { type CpuJob, runCpu, withCpuSession } from '../../src/drivers/cpu-runner.js';
import { keyOf } from '../../src/drivers/fingerprint.js';
import { buildCpu, cpuStages, stagesFor } from '../../src/drivers/mlir.js';
import { causeOf, run, shellQuote, toolError } from '../../src/drivers/run.js';
import { findTool, type ToolPaths } from '../../src/drivers/tool.js';
import { asSetName, installSet, isInstalled, setTool } from '../../src/drivers/toolchain.js';
import { inFolder } from '../support/cli.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

function script(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Runs `work` with other environment variables; undefined takes one away. */
async function withEnvironment(
  changes: Readonly<Record<string, string | undefined>>,
  work: () => Promise<void>,
): Promise<void> {
  const set = (values: Readonly<Record<string, string | undefined>>): void => {
    for (const [name, value] of Object.entries(values))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  };
  const before = Object.fromEntries(Object.keys(changes).map((name) => [name, process.env[name]]));
  set(changes);
  try {
    await work();
  } finally {
    set(before);
  }
}

describe('running a tool', () => {
  test('output, exit code, standard input', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', 'cat; echo to stderr >&2; exit 3');
      const { ok, exitCode, stdout, stderr, timedOut } = await run('tool', tool, [], { input: 'hello' });
      expect({ ok, exitCode, out: Buffer.from(stdout).toString(), stderr, timedOut }).toEqual({
        ok: false,
        exitCode: 3,
        out: 'hello',
        stderr: 'to stderr\n',
        timedOut: false,
      });
    }));

  test('arguments reach it as they are: no shell', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', 'printf "%s\\n" "$@"');
      const args = ['a b', '$HOME', '`x`', '"q"', "it's", '*', '#', ''];
      const { stdout } = await run('tool', tool, args);
      expect(Buffer.from(stdout).toString().split('\n').slice(0, -1)).toEqual(args);
    }));

  test('the environment is scrubbed', async () => {
    process.env.TRITON_SECRET = 'x';
    const { stdout } = await run('env', '/usr/bin/env', []);
    delete process.env.TRITON_SECRET;
    const text = Buffer.from(stdout).toString();
    expect(text).not.toContain('TRITON_SECRET');
    expect(text).toContain('LC_ALL=C');
  });

  test('one that hangs is stopped', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', 'exec sleep 100');
      const outcome = await run('tool', tool, [], { timeout: 200 });
      expect({ ok: outcome.ok, timedOut: outcome.timedOut }).toEqual({ ok: false, timedOut: true });
      expect(toolError(outcome).message).toMatch(/TW3001\]: tool did not end within \d+ s/);
    }));

  test('one that prints without end is stopped, with what it started', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', "sleep 100 & yes 'a line that nobody reads'");
      const outcome = await run('tool', tool, []);
      expect({ ok: outcome.ok, overflowed: outcome.overflowed, timedOut: outcome.timedOut }).toEqual({
        ok: false,
        overflowed: true,
        timedOut: false,
      });
      expect(toolError(outcome).message).toContain('tool printed more than 16 MB and was stopped');
    }));

  test('one that is cancelled is stopped', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', 'exec sleep 100');
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 100);
      const outcome = await run('tool', tool, [], { signal: controller.signal });
      expect({ ok: outcome.ok, aborted: outcome.aborted }).toEqual({ ok: false, aborted: true });
    }));

  /** A tool that starts another process, tells its number by a file, and waits for it. */
  const family = (folder: string): { tool: string; childIsAlive: () => boolean } => {
    const note = join(folder, 'child');
    const tool = script(folder, 'tool', `sleep 100 & echo $! > '${note}'; wait; echo never`);
    const childIsAlive = (): boolean => {
      try {
        // One that has ended but was not waited for yet has a state, and no command line.
        return readFileSync(`/proc/${readFileSync(note, 'utf8').trim()}/cmdline`, 'utf8') !== '';
      } catch {
        return false;
      }
    };
    return { tool, childIsAlive };
  };

  test('what a tool started is stopped with it, on time-out and on cancellation', () =>
    inFolder(async (folder) => {
      const { tool, childIsAlive } = family(folder);
      const late = await run('tool', tool, [], { timeout: 300 });
      expect({ timedOut: late.timedOut, aborted: late.aborted, alive: childIsAlive() }).toEqual({
        timedOut: true,
        aborted: false,
        alive: false,
      });
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 300);
      const cancelled = await run('tool', tool, [], { signal: controller.signal });
      expect({ timedOut: cancelled.timedOut, aborted: cancelled.aborted, alive: childIsAlive() }).toEqual({
        timedOut: false,
        aborted: true,
        alive: false,
      });
    }));

  test('one that ignores the polite signal is stopped all the same', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', "trap '' TERM; while :; do sleep 0.1; done");
      const outcome = await run('tool', tool, [], { timeout: 200 });
      expect({ timedOut: outcome.timedOut, signal: outcome.signal }).toEqual({ timedOut: true, signal: 'SIGKILL' });
    }));

  test('one that was cancelled before it began', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', 'exec sleep 100');
      const outcome = await run('tool', tool, [], { signal: AbortSignal.abort() });
      expect({ ok: outcome.ok, aborted: outcome.aborted }).toEqual({ ok: false, aborted: true });
    }));

  test('nothing is left listening afterwards', async () => {
    const listeners = (): number[] => ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((s) => process.listenerCount(s));
    const before = listeners();
    await Promise.all([run('true', '/bin/true', []), run('nothing', '/no/such/tool', [])]);
    expect(listeners()).toEqual(before);
  });

  test('a crash is an answer, with the signal', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'tool', 'kill -SEGV $$');
      const outcome = await run('tool', tool, []);
      expect({ ok: outcome.ok, signal: outcome.signal }).toEqual({ ok: false, signal: 'SIGSEGV' });
      expect(toolError(outcome).failure).toMatchObject({ tool: 'tool', signal: 'SIGSEGV', timedOut: false });
    }));

  test('one that cannot be started is an answer too', async () => {
    const outcome = await run('nothing', '/no/such/tool', []);
    expect({ ok: outcome.ok, notStarted: outcome.notStarted }).toEqual({ ok: false, notStarted: true });
  });

  test('the cause comes before what it printed, with a command to paste', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'my tool', 'echo note: ignore >&2; echo "x.c:3: error: no such thing" >&2; exit 1');
      const error = toolError(await run('my tool', tool, ['a b']));
      const [d] = error.diagnostics;
      expect(d!.message).toBe('my tool ended with exit code 1: x.c:3: error: no such thing');
      expect(d!.notes[0]!.message).toBe(`command: '${tool}' 'a b'`);
      expect(d!.notes[1]!.message).toContain('note: ignore');
    }));

  test.each([
    ['plain', 'plain'],
    ['a b', "'a b'"],
    ["it's", "'it'\\''s'"],
    ['', "''"],
  ])('%j is quoted for a shell', (text, quoted) => {
    expect(shellQuote(text)).toBe(quoted);
  });

  test('the cause is the first line with an error, else the last', () => {
    expect(causeOf('warning: a\nfoo: error: b\nfatal error: c\n')).toBe('foo: error: b');
    const crash = "mlir-opt: Pass.cpp:9: void run(): Assertion `op' failed.";
    expect(causeOf(`${crash}\nPLEASE submit a bug report\n #0 0x1 main\nAborted\n`)).toBe(crash);
    expect(causeOf('one\ntwo\n')).toBe('two');
    expect(causeOf('')).toBe('');
  });
});

describe('finding a tool', () => {
  test('one of the wrong version by name is refused', () =>
    inFolder(async (folder) => {
      const tool = script(folder, 'llc', 'echo "LLVM version 14.0.6"');
      const [d] = await diagnosticsOf(() => findTool('llc', { llc: tool }));
      expect(d!.message).toBe(`llc at ${tool} is version 14.0.6; LLVM 22.1 is needed`);
    }));

  test('one that does not run says where it was named', () =>
    inFolder(async (folder) => {
      const [d] = await diagnosticsOf(() => findTool('llc', { llc: join(folder, 'none') }));
      expect(d!.code).toBe('TW3002');
      expect(d!.notes[0]!.message).toContain('--llc');
    }));

  test('one of the wrong version on PATH is passed over for a right one, whatever its name', () =>
    inFolder((folder) => {
      const [old, right] = ['old', 'right'].map((name) => join(folder, name));
      for (const path of [old!, right!]) mkdirSync(path);
      script(old!, 'llc', 'echo "LLVM version 14.0.6"');
      const wanted = script(right!, 'llc-22', 'echo "LLVM version 22.1.8"');
      const PATH = `${old}:${right}:/usr/bin:/bin`;
      return withEnvironment({ PATH, TILEWRIGHT_CACHE_DIR: join(folder, 'cache'), LLC: undefined }, async () => {
        expect(await findTool('llc')).toEqual({ name: 'llc', path: wanted, version: '22.1.8' });
      });
    }));

  test('where there is only one of the wrong version, every place is listed, and what to install', () =>
    inFolder((folder) => {
      const old = script(folder, 'llc', 'echo "LLVM version 14.0.6"');
      const cache = join(folder, 'cache');
      return withEnvironment({ PATH: folder, TILEWRIGHT_CACHE_DIR: cache, LLC: undefined }, async () => {
        const [d] = await diagnosticsOf(() => findTool('llc'));
        expect(`${d!.code} ${d!.message}`).toBe(`TW3003 llc at ${old} is version 14.0.6; LLVM 22.1 is needed`);
        expect(d!.help).toBe('run: tilewright toolchain install mlir');
        expect(d!.notes.map((n) => n.message)).toEqual([
          'looked at --llc (not given)',
          'looked at LLC (not set)',
          'looked at the installed tool sets (not installed)',
          `looked at ${old} (version 14.0.6)`,
          'looked at llc-22 on PATH',
          'looked at llc on PATH',
        ]);
      });
    }));

  test('a tool is asked for its version once, and again when it has changed', () =>
    inFolder((folder) => {
      const log = join(folder, 'log');
      const text = (version: string): string => `echo asked >> '${log}'; echo "LLVM version ${version}"`;
      const llc = script(folder, 'llc', text('22.1.8'));
      return withEnvironment({ TILEWRIGHT_CACHE_DIR: join(folder, 'cache') }, async () => {
        for (let i = 0; i < 3; i++) expect((await findTool('llc', { llc })).version).toBe('22.1.8');
        expect(readFileSync(log, 'utf8')).toBe('asked\n');
        script(folder, 'llc', text('22.1.10'));
        expect((await findTool('llc', { llc })).version).toBe('22.1.10');
        expect(readFileSync(log, 'utf8')).toBe('asked\nasked\n');
      });
    }));

  test('an unknown tool set names those that exist', async () => {
    const [d] = await diagnosticsOf(() => asSetName('mlri'));
    expect(d!.message).toBe("there is no tool set 'mlri'; known are mlir, test");
  });
});

describe('installing a tool set', () => {
  /** A Python of version 3.12 on a PATH of its own; `pip` is what its `pip install` does, with the folder as $to. */
  async function withPython(
    pip: string,
    work: (toolchains: string, folder: string) => Promise<void>,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await inFolder((folder) => {
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      const target = 'for a; do [ "$previous" = --target ] && to=$a; previous=$a; done';
      script(bin, 'python3', `case "$1 $3" in -c*) echo 3.12;; *--version) ;; *) ${target}\n${pip}\n;; esac`);
      // The system's own folders would bring its uv and Python.
      for (const name of ['sleep', 'mkdir', 'touch']) symlinkSync(join('/bin', name), join(bin, name));
      const cache = join(folder, 'cache');
      return withEnvironment({ PATH: bin, TILEWRIGHT_CACHE_DIR: cache, ...more }, () =>
        work(join(cache, 'toolchains'), folder),
      );
    });
  }
  const good = 'mkdir -p "$to/llvm/bin"; touch "$to/llvm/bin/llc"';

  test('puts its tools where they are found', () =>
    withPython(good, async () => {
      expect([await isInstalled('mlir'), await setTool('llc')]).toEqual([false, undefined]);
      const { folder, installed } = await installSet('mlir');
      expect([installed, await isInstalled('mlir')]).toEqual([true, true]);
      expect(await setTool('llc')).toBe(join(folder, 'llvm/bin/llc'));
      expect((await installSet('mlir')).installed).toBe(false);
    }));

  test('twice at once leaves one, and nothing partial', () =>
    withPython(`${good}; sleep 0.1`, async (toolchains) => {
      const [a, b] = await Promise.all([installSet('mlir'), installSet('mlir')]);
      expect(a!.folder).toBe(b!.folder);
      expect(readdirSync(toolchains)).toHaveLength(1);
    }));

  test('a download with another hash leaves nothing', () =>
    withPython('echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES" >&2; exit 1', async (toolchains) => {
      const [d] = await diagnosticsOf(() => installSet('mlir'));
      expect(`${d!.code} ${d!.message}`).toBe(
        "TW3010 tool set 'mlir' could not be installed: pip: ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
      );
      expect(readdirSync(toolchains)).toEqual([]);
    }));

  test('one that is cancelled leaves nothing', () =>
    withPython(`${good}; sleep 100; echo`, async (toolchains) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 300);
      const [d] = await diagnosticsOf(() => installSet('mlir', { signal: controller.signal }));
      expect(d!.message).toBe("tool set 'mlir' could not be installed: cancelled");
      expect(readdirSync(toolchains)).toEqual([]);
    }));

  test('a Python that is too old', () =>
    inFolder((folder) => {
      script(folder, 'python3', 'echo 3.8');
      return withEnvironment({ PATH: folder, TILEWRIGHT_CACHE_DIR: join(folder, 'cache') }, async () => {
        const [d] = await diagnosticsOf(() => installSet('mlir'));
        expect(`${d!.code} ${d!.message}`).toBe(
          'TW3012 Python 3.11 or newer is needed to install tools, python3 is 3.8',
        );
      });
    }));

  test('a folder that cannot be written says which', () =>
    withPython(good, async (_, folder) => {
      const file = join(folder, 'file');
      writeFileSync(file, '');
      await withEnvironment({ TILEWRIGHT_CACHE_DIR: file }, async () => {
        const [d] = await diagnosticsOf(() => installSet('mlir'));
        expect(d!.message).toMatch(
          /^tool set 'mlir' could not be installed: ENOTDIR: not a directory, mkdir '.*file\//,
        );
        expect(d!.help).toContain('TILEWRIGHT_CACHE_DIR');
      });
    }));
});

describe('the cache', () => {
  const entry = new Map([
    ['so', Buffer.from('machine code')],
    ['plan.json', Buffer.from('{}')],
  ]);
  const key = keyOf({ text: 'x' });

  test('gives back what was stored', () =>
    inFolder(async (folder) => {
      const cache = new ArtifactCache(folder, () => {});
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, entry);
      const found = await cache.get(key);
      expect([...found!].map(([name, bytes]) => [name, Buffer.from(bytes).toString()])).toEqual([
        ['so', 'machine code'],
        ['plan.json', '{}'],
      ]);
    }));

  test.each([
    ['changed', (folder: string) => writeFileSync(join(folder, 'so'), 'other')],
    ['cut short', (folder: string) => writeFileSync(join(folder, 'so'), '')],
    ['without its manifest', (folder: string) => writeFileSync(join(folder, 'manifest.json'), '{"files":')],
    ['of another program', (folder: string) => writeFileSync(join(folder, 'manifest.json'), '[]')],
  ])('an entry that is %s is a miss, and is replaced', (_, damage) =>
    inFolder(async (folder) => {
      const cache = new ArtifactCache(folder, () => {});
      await cache.put(key, entry);
      damage(cache.path(key));
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, entry);
      expect(Buffer.from((await cache.get(key))!.get('so')!).toString()).toBe('machine code');
    }),
  );

  test('one that cannot be written costs one warning', () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'file'), '');
      const warnings: Diagnostic[] = [];
      const cache = new ArtifactCache(join(folder, 'file'), (w) => warnings.push(w));
      await cache.put(key, entry);
      await cache.put(keyOf({ text: 'y' }), entry);
      expect(warnings.map((w) => `${w.severity} ${w.code}`)).toEqual(['warning TW3020']);
    }));

  test('many writers of one entry leave one, and nothing partial', () =>
    inFolder(async (folder) => {
      const fill = async (partial: string): Promise<void> => writeFileSync(join(partial, 'so'), 'machine code');
      await Promise.all(Array.from({ length: 20 }, () => publishFolder(join(folder, 'entry'), fill)));
      expect(readdirSync(folder)).toEqual(['entry']);
      expect(readFileSync(join(folder, 'entry/so'), 'utf8')).toBe('machine code');
    }));

  test('keys of different parts differ, whatever their texts', () => {
    expect(keyOf({ a: 'x', b: 'y' })).toBe(keyOf({ b: 'y', a: 'x' }));
    expect(keyOf({ a: 'x1:b=1:y' })).not.toBe(keyOf({ a: 'x', b: 'y' }));
  });
});

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
  test('flags of the user come last', () => {
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

describeTool('mlir', 'real tools', () => {
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
    const job = {
      library: artifacts.get('so')!,
      buffers: [],
      launches: [{ symbol: 'crash', programs: 5, pointers: [], scalars: [], scratchBytes: 0 }],
      threads: 1,
    };
    const [d] = await diagnosticsOf(() => runCpu(job));
    expect(`${d!.code} ${d!.message}`).toBe('TW3030 kernel crashed with SIGSEGV in program 0 of launch crash');
    expect(d!.help).toContain('--target interpret');
  });

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
        const [launch] = jobOf(new Uint8Array(), 1, 1).launches;
        const job = { ...jobOf(artifacts.get('so')!, 1, 1), launches: [{ ...launch!, symbol: 'crash' }] };
        const [d] = await diagnosticsOf(() => runCpu(job));
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

  test('a job whose library is not one', async () => {
    const job = {
      library: Buffer.from('not a library'),
      buffers: [],
      launches: [{ symbol: 'x', programs: 1, pointers: [], scalars: [], scratchBytes: 0 }],
      threads: 1,
    };
    const [d] = await diagnosticsOf(() => runCpu(job));
    expect(d!.code).toBe('TW3001');
  });
});
