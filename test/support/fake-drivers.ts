/** Recording drivers: libcuda and libamdhip64 that run nothing and log every call. Built by cc. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const sources = resolve(import.meta.dirname, 'fake-drivers');

/** One call of a driver. */
export interface Call {
  readonly call: string;
  readonly [field: string]: unknown;
}

export interface Launched extends Call {
  readonly name: string;
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly cluster: number;
  readonly shared: number;
  readonly stream: number;
  readonly args: readonly { readonly offset: number; readonly hex: string }[];
}

export interface Program {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: readonly Call[];
  readonly launches: readonly Launched[];
}

const isLaunch = (c: Call): c is Launched => /Launch/.test(c.call);

/** Folders and libraries of one test file; `close` removes them. */
export class FakeDrivers {
  readonly folder = mkdtempSync(join(tmpdir(), 'tilewright-fakes-'));
  readonly cuda = this.compile('fake-cuda');
  readonly hip = this.compile('fake-hip');
  private logs = 0;

  private compile(name: string): string {
    const to = join(this.folder, `${name}.so`);
    const flags = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-function', '-O1', '-shared', '-fPIC'];
    execFileSync('cc', [...flags, join(sources, `${name}.c`), '-o', to]);
    return to;
  }

  /** Compiles a C program against what stands in the folder. */
  program(name: string, files: readonly string[], flags: readonly string[] = []): string {
    const to = join(this.folder, name);
    execFileSync('cc', ['-O1', '-I', this.folder, ...flags, ...files, '-o', to, '-ldl', '-lpthread', '-lm']);
    return to;
  }

  source(name: string): string {
    return join(sources, name);
  }

  /** Runs a program on the recording drivers. */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    const log = join(this.folder, `log-${this.logs++}`);
    const { status, signal, stdout, stderr } = spawnSync(program, args, {
      cwd: this.folder,
      encoding: 'utf8',
      env: { TILEWRIGHT_CUDA_LIB: this.cuda, TILEWRIGHT_HIP_LIB: this.hip, FAKE_LOG: log, ...env },
    });
    let text = '';
    try {
      text = readFileSync(log, 'utf8');
    } catch {
      // No driver was called.
    }
    const calls = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Call);
    return { code: status, signal, stdout, stderr, calls, launches: calls.filter(isLaunch) };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Names of the calls, without those that were made for the memory of the program itself. */
export const namesOf = (calls: readonly Call[]): string[] =>
  calls
    .map((c) => c.call)
    .filter((name) => !/^(?:cuMemAlloc|hipMalloc|cuCtxSynchronize|hipDeviceSynchronize)$/.test(name));

/** The arguments of a launch: addresses by the names of their arrays, everything else as hexadecimal digits in memory order. */
export function argumentsOf({ args }: Launched, calls: readonly Call[], names: readonly string[]): string[] {
  const allocated = calls.filter((c) => c.call === 'cuMemAlloc' || c.call === 'hipMalloc');
  const byAddress = new Map(allocated.map((c, i) => [c.address as string, names[i] ?? `memory ${i}`]));
  return args.map(({ hex }) => {
    const address = BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex') || '0'}`).toString(16);
    return (hex.length === 16 && byAddress.get(address)) || hex;
  });
}
