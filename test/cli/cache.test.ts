import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ArtifactCache } from '../../src/drivers/cache.js';
import { storedEntries, verify } from '../../src/drivers/cache-entries.js';
import { keyOf } from '../../src/drivers/fingerprint.js';
import { randomNumbers } from '../../src/simulator/schedule.js';
import { example, inFolder, tilewright } from '../support/cli.js';
import { type OutsidePackage, packageOutside } from '../support/kernels-outside.js';
import { describeTool } from '../support/tools.js';

describe('tilewright cache', () => {
  test('tells what it holds, shrinks and checks it', () =>
    inFolder(async (folder) => {
      const cache = new ArtifactCache(folder, () => {});
      const keys = ['a', 'b'].map((text) => keyOf({ text }));
      for (const key of keys) await cache.put(key, new Map([['so', Buffer.alloc(5000)]]));
      const run = (...args: string[]) => tilewright(['cache', ...args, '--cache-dir', folder]);
      expect(await run('stats')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/: 2 entries, 10\.\d kB of /),
      });
      expect(JSON.parse((await run('stats', '--json')).stdout)).toMatchObject({ folder, entries: 2 });
      writeFileSync(join(cache.path(keys[0]!), 'so'), 'other');
      expect(await run('verify')).toMatchObject({ code: 1, stdout: expect.stringContaining('1 of them damaged') });
      expect(await run('verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 entries, 0 of them') });
      expect(await run('prune', '--max-size', '1k')).toMatchObject({ code: 0 });
      expect(JSON.parse((await run('stats', '--json')).stdout)).toMatchObject({ entries: 0, bytes: 0 });
    }));

  test('says what it does not know', async () => {
    expect(await tilewright(['cache', 'prun'])).toMatchObject({ code: 2, stderr: expect.stringContaining("'prune'") });
    expect(await tilewright(['cache', 'prune', '--max-size', 'big'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a size, as 500M or 2G'),
    });
    expect(await tilewright(['build', example('vector-add'), '--remote-cache', 'ftp://x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('an http or https address'),
    });
  });
});

describeTool('mlir', 'a build with a shared cache', () => {
  test('uses what another machine made; a dead server costs a warning', () =>
    inFolder(async (folder) => {
      const files = new Map<string, Buffer>();
      const seen: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => {
          seen.push(request.headers.authorization);
          if (request.method === 'PUT') files.set(request.url!, Buffer.concat(parts));
          const found = files.get(request.url!);
          response.writeHead(found ? 200 : 404).end(request.method === 'GET' ? found : undefined);
        });
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const build = (machine: string, remote = url) =>
        tilewright(
          ['build', example('vector-add'), '-D', 'dtype=f32', '-o', join(folder, `${machine}.so`)].concat(
            ['--cache-dir', join(folder, machine)],
            ['--remote-cache', remote],
          ),
          { env: { TILEWRIGHT_REMOTE_CACHE_TOKEN: 'token', ...toolsOf() } },
        );
      try {
        expect(await build('one')).toMatchObject({ code: 0, stderr: expect.stringMatching(/\d+ ms/) });
        expect(await build('two')).toMatchObject({ code: 0, stderr: expect.stringContaining('cache hit') });
        expect(readFileSync(join(folder, 'two.so')).equals(readFileSync(join(folder, 'one.so')))).toBe(true);
        expect(new Set(seen)).toEqual(new Set(['Bearer token']));
      } finally {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      }
      const { code, stderr } = await build('three');
      expect(code).toBe(0);
      expect(stderr.match(/warning\[TW3022\]/g)).toHaveLength(1);
      expect(readFileSync(join(folder, 'three.so')).equals(readFileSync(join(folder, 'one.so')))).toBe(true);
    }));
});

/** Where the tools of the tests lie, for a program that starts with an environment of its own. */
const toolsOf = (): Record<string, string> =>
  Object.fromEntries(
    ['TILEWRIGHT_CACHE_DIR', 'XDG_CACHE_HOME'].flatMap((n) => (process.env[n] ? [[n, process.env[n]!]] : [])),
  );

describe('a cache that many processes use and that any of them may die in', () => {
  let outside: OutsidePackage;
  beforeAll(async () => {
    outside = await packageOutside();
  });
  afterAll(() => outside.remove());

  test('holds whole entries and right ones, whenever they are killed', () =>
    inFolder(async (folder) => {
      // Stores and reads without end; ends by itself only where it reads what nobody stored.
      const script = `
        import { ArtifactCache } from ${JSON.stringify(join(outside.folder, 'node_modules/tilewright/dist/drivers/cache.js'))};
        import { keyOf } from ${JSON.stringify(join(outside.folder, 'node_modules/tilewright/dist/drivers/fingerprint.js'))};
        const cache = new ArtifactCache(process.argv[1], () => process.exit(8), undefined, 256 * 300_000);
        console.log('ready');
        for (let i = Number(process.argv[2]); ; i = (i * 7 + 3) % 40) {
          const key = keyOf({ text: String(i) });
          const want = Buffer.alloc(1000 + 4000 * i, i);
          const found = await cache.get(key);
          if (found && !want.equals(found.get('so'))) process.exit(9);
          await cache.put(key, new Map([['so', want]]));
        }`;
      const random = randomNumbers(20261201);
      const ends = await Promise.all(
        Array.from({ length: 16 }, async (_, n) => {
          const child = spawn(process.execPath, ['--input-type=module', '--eval', script, folder, String(n)], {
            stdio: ['ignore', 'pipe', 'inherit'],
          });
          const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
          await new Promise((ready) => child.stdout.once('data', ready));
          await sleep(20 + 400 * random());
          child.kill('SIGKILL');
          return ended;
        }),
      );
      expect(ends).toEqual(Array.from({ length: 16 }, () => 'SIGKILL'));
      const { entries, damaged } = await verify(folder);
      expect(damaged).toEqual([]);
      expect(entries).toBeGreaterThan(0);
      expect((await storedEntries(folder)).length).toBe(entries);
    }));
});
