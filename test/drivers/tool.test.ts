import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findTool } from '../../src/drivers/tool.js';
import { inFolder } from '../support/cli.js';
import { withEnvironment } from '../support/environment.js';
import { script } from '../support/scripts.js';
import { diagnosticsOf } from '../support/thrown.js';

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

  test('one that is named without a folder is looked up on PATH', () =>
    inFolder((folder) => {
      const path = script(folder, 'my-cc', 'echo "my-cc 1.2.3"');
      return withEnvironment({ PATH: `${folder}:/bin`, CC: 'my-cc', TILEWRIGHT_CACHE_DIR: folder }, async () => {
        expect(await findTool('cc')).toEqual({ name: 'cc', path, version: '1.2.3' });
        const [d] = await diagnosticsOf(() => findTool('cc', { cc: 'gcc-none' }));
        expect(d!.notes.map((n) => n.message)).toEqual(['looked at --cc: gcc-none (not on PATH)']);
      });
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
});
