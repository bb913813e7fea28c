import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { asSetName, installSet, isInstalled, setTool } from '../../src/drivers/toolchain.js';
import { inFolder } from '../support/cli.js';
import { withEnvironment } from '../support/environment.js';
import { script } from '../support/scripts.js';
import { diagnosticsOf } from '../support/thrown.js';

describe('installing a tool set', () => {
  /** Sets $to to the folder that pip is asked to fill. */
  const target = 'for a; do [ "$previous" = --target ] && to=$a; previous=$a; done';

  /** A Python of version 3.12 on a PATH of its own; `pip` is what its `pip install` does, with the folder as $to. */
  async function withPython(
    pip: string,
    work: (toolchains: string, folder: string) => Promise<void>,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await inFolder((folder) => {
      const bin = join(folder, 'bin');
      mkdirSync(bin);
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

  test('a set that is imported has an interpreter, and is complete only with it', () => {
    const venv = `case "$1 $2" in *venv) for to; do :; done; mkdir -p "$to/bin" "$to/lib/python3.12/site-packages"; touch "$to/bin/python"; exit;; esac`;
    const packages = `mkdir -p "$to/triton/backends/nvidia/lib/cupti-blackwell"; touch "$to/triton/__init__.py"`;
    return inFolder((folder) => {
      script(
        folder,
        'python3',
        `${venv}\ncase "$1 $3" in -c*) echo 3.12;; *--version) ;; *) ${target}\n${packages}\n;; esac`,
      );
      return withEnvironment({ PATH: `${folder}:/bin`, TILEWRIGHT_CACHE_DIR: join(folder, 'cache') }, async () => {
        const { folder: packagesFolder } = await installSet('triton');
        const python = await setTool('python', ['triton']);
        expect(python).toBe(join(packagesFolder, 'python/bin/python'));
        const path = join(packagesFolder, 'python/lib/python3.12/site-packages/tilewright.pth');
        expect(resolve(dirname(path), readFileSync(path, 'utf8').trim())).toBe(packagesFolder);
        expect(readdirSync(join(packagesFolder, 'triton/backends/nvidia/lib'))).toEqual([]);
        rmSync(python!);
        expect(await isInstalled('triton')).toBe(false);
        expect((await installSet('triton')).installed).toBe(true);
      });
    });
  });

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

  test('a Python without pip makes an environment that has one', () =>
    inFolder((folder) => {
      const inside = script(folder, 'inside', `${target}\n${good}`);
      const make = `mkdir -p "$3/bin"; cp '${inside}' "$3/bin/python"`;
      script(folder, 'python3', `case "$1 $2" in -c*) echo 3.12;; *venv) ${make};; *) exit 1;; esac`);
      const PATH = `${folder}:/bin`;
      return withEnvironment({ PATH, TILEWRIGHT_CACHE_DIR: join(folder, 'cache') }, async () => {
        const lines: string[] = [];
        await installSet('mlir', { onProgress: (line) => lines.push(line) });
        expect(lines).toEqual(["installing tool set 'mlir' with pip of a virtual environment"]);
        expect(await setTool('llc')).toBeDefined();
      });
    }));

  test('a Python without pip and venv says what to install', () =>
    inFolder((folder) => {
      script(folder, 'python3', 'case "$1" in -c) echo 3.12;; *) exit 1;; esac');
      return withEnvironment({ PATH: folder, TILEWRIGHT_CACHE_DIR: join(folder, 'cache') }, async () => {
        const [d] = await diagnosticsOf(() => installSet('mlir'));
        expect(d!.message).toBe("tool set 'mlir' could not be installed: neither uv nor pip was found");
        expect(d!.help).toContain('python3-venv');
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

  test('an unknown tool set names those that exist', async () => {
    const [d] = await diagnosticsOf(() => asSetName('mlri'));
    expect(d!.message).toBe("there is no tool set 'mlri'; known are mlir, triton, mosaic, nvcc, test");
  });
});
