import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { causeOf, run, shellQuote, toolError } from '../../src/drivers/run.js';
import { inFolder } from '../support/cli.js';
import { script } from '../support/scripts.js';

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
