import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { ArtifactCache } from '../../src/drivers/cache.js';
import { requiredTools } from '../../src/drivers/environment.js';
import { keyOf, sha256 } from '../../src/drivers/fingerprint.js';
import { packEntry, RemoteCache, type RemoteCacheOptions, unpackEntry } from '../../src/drivers/remote-cache.js';
import { inFolder } from '../support/cli.js';

const key = keyOf({ text: 'x' });
const entry = new Map([
  ['cubin', Buffer.from('machine code')],
  ['plan.json', Buffer.from('{}')],
]);
const textOf = (found: ReadonlyMap<string, Uint8Array> | undefined): Record<string, string> | undefined =>
  found && Object.fromEntries([...found].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
const whole = { cubin: 'machine code', 'plan.json': '{}' };

describe('an entry as one file', () => {
  test('comes back as it was', () => {
    expect(textOf(unpackEntry(key, packEntry(key, entry)))).toEqual(whole);
    expect(unpackEntry(key, packEntry(key, new Map()))).toEqual(new Map());
  });

  const packed = packEntry(key, entry);
  /** The same bytes under a header whose first file is told otherwise. */
  const told = (first: object): Uint8Array => {
    const at = packed.indexOf(10);
    const { files, ...rest } = JSON.parse(Buffer.from(packed.subarray(0, at)).toString()) as { files: object[] };
    const header = JSON.stringify({ ...rest, files: [{ ...files[0], ...first }, ...files.slice(1)] });
    return Buffer.concat([Buffer.from(header), packed.subarray(at)]);
  };
  test.each([
    ['cut short', packed.subarray(0, packed.length - 1)],
    ['longer', Buffer.concat([packed, Buffer.from('!')])],
    ['changed', Buffer.concat([packed.subarray(0, packed.length - 1), Buffer.from('!')])],
    ['of another key', packEntry(keyOf({ text: 'y' }), entry)],
    ['a page of a proxy', Buffer.from('<html>Please log in</html>\n')],
    ['of no lines', Buffer.from('{}')],
    ['empty', Buffer.alloc(0)],
    ['with names that leave the folder', told({ name: '../../evil' })],
    ['with sizes that are none', told({ size: -1 })],
    ['with other hashes', told({ sha256: sha256('other') })],
  ])('%s is none', (_, bytes) => {
    expect(unpackEntry(key, bytes)).toBeUndefined();
  });
});

type Handler = (request: IncomingMessage, body: Buffer, response: ServerResponse) => void;

/** A server for one test; `log` has the requests. */
async function serving<T>(handle: Handler, work: (url: string, log: string[]) => Promise<T>): Promise<T> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      log.push(`${request.method} ${request.url}`);
      handle(request, Buffer.concat(parts), response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, log);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A store as WebDAV servers are: what was put is got. */
function store(token?: string): { files: Map<string, Buffer>; handle: Handler } {
  const files = new Map<string, Buffer>();
  const handle: Handler = ({ method, url, headers }, body, response) => {
    if (token !== undefined && headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (method === 'PUT') files.set(url!, body);
    const found = files.get(url!);
    response.writeHead(method === 'PUT' ? 201 : found ? 200 : 404);
    response.end(method === 'GET' ? found : undefined);
  };
  return { files, handle };
}

const remote = (url: string, warnings: Diagnostic[], more: Partial<RemoteCacheOptions> = {}): RemoteCache =>
  new RemoteCache({ url, mode: 'rw', timeout: 2000, ...more }, (w) => warnings.push(w));

describe('a shared cache', () => {
  test('gives one machine what another made, and fills its folder', () =>
    serving(store().handle, (url, log) =>
      inFolder(async (folder) => {
        const warnings: Diagnostic[] = [];
        const first = new ArtifactCache(join(folder, 'a'), (w) => warnings.push(w), remote(`${url}/team/`, warnings));
        const second = new ArtifactCache(join(folder, 'b'), (w) => warnings.push(w), remote(`${url}/team`, warnings));
        expect(await first.get(key)).toBeUndefined();
        await first.put(key, entry);
        await first.put(key, entry);
        expect(textOf(await second.get(key))).toEqual(whole);
        expect(textOf(await second.get(key))).toEqual(whole);
        const path = `/team/ac/${key}`;
        expect(log).toEqual([`GET ${path}`, `HEAD ${path}`, `PUT ${path}`, `HEAD ${path}`, `GET ${path}`]);
        expect(warnings).toEqual([]);
      }),
    ));

  test('is not written to in mode ro', () =>
    serving(store().handle, async (url, log) => {
      await remote(url, [], { mode: 'ro' }).put(key, entry);
      expect(log).toEqual([]);
    }));

  test('gets the token; without it, one warning, and nothing else is asked', () =>
    serving(store('secret').handle, async (url, log) => {
      const warnings: Diagnostic[] = [];
      const allowed = remote(url, warnings, { token: 'secret' });
      await allowed.put(key, entry);
      expect(textOf(await allowed.get(key))).toEqual(whole);
      expect(warnings).toEqual([]);
      const refused = remote(url, warnings);
      expect(await refused.get(key)).toBeUndefined();
      await refused.put(key, entry);
      expect(warnings.map((w) => [w.severity, w.code, w.message])).toEqual([
        ['warning', 'TW3022', `the shared cache at ${url} cannot be used (it answered 401); going on without it`],
      ]);
      expect(log).toHaveLength(4);
    }));

  test.each<[string, Handler, RegExp]>([
    ['is broken', (_, __, r) => void r.writeHead(500).end(), /it answered 500/],
    ['lies behind a proxy that answers rubbish', (_, __, r) => void r.end('<html>hello</html>'), /is no entry of this/],
    ['hangs', () => {}, /no answer within 0\.3 s/],
    [
      'stops midway',
      (_, __, r) => {
        r.writeHead(200, { 'content-length': 99 });
        r.write('{', () => r.destroy());
      },
      /\(.+\)/,
    ],
    ['wants to send too much', (_, __, r) => void r.writeHead(200, { 'content-length': 2 ** 30 }).end(), /too large/],
  ])('that %s costs one warning', (_, handle, why) =>
    serving(handle, async (url) => {
      const warnings: Diagnostic[] = [];
      const cache = remote(url, warnings, { timeout: 300 });
      expect(await cache.get(key)).toBeUndefined();
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, entry);
      expect(warnings.map((w) => w.message)).toEqual([expect.stringMatching(why)]);
    }),
  );

  test('that is not there costs one warning, without the password of its address', async () => {
    const warnings: Diagnostic[] = [];
    const port = await freePort();
    expect(await remote(`http://me:secret@127.0.0.1:${port}`, warnings).get(key)).toBeUndefined();
    expect(warnings.map((w) => w.message)).toEqual([
      `the shared cache at http://127.0.0.1:${port} cannot be used (ECONNREFUSED); going on without it`,
    ]);
  });
});

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createSocketServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/sbin/nginx'].find(existsSync);

function describeNginx(body: () => void): void {
  const name = 'a shared cache on nginx with WebDAV';
  const usable = nginx && /http_dav_module/.test(spawnSync(nginx, ['-V'], { encoding: 'utf8' }).stderr);
  if (usable) describe(name, body);
  else if (requiredTools().includes('all'))
    test(name, () => {
      throw new Error('nginx with WebDAV is required but not installed: apt-get install nginx-light');
    });
  else describe.skip(`${name} (skipped: nginx is not installed)`, body);
}

describeNginx(() => {
  test('takes and gives entries', () =>
    inFolder(async (spaced) => {
      // The configuration of nginx has no escape for spaces that all versions take.
      const folder = join('/tmp', `nginx-${process.pid}-${Date.now()}`);
      mkdirSync(join(folder, 'store'), { recursive: true });
      const port = await freePort();
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
        .join(' ');
      writeFileSync(
        join(folder, 'nginx.conf'),
        `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/pid; error_log ${folder}/errors; events {}
http { access_log off; ${temporary} server { listen 127.0.0.1:${port}; location / {
  root ${folder}/store; dav_methods PUT DELETE; create_full_put_path on; client_max_body_size 100m; } } }`,
      );
      const server = spawn(nginx!, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
      try {
        const warnings: Diagnostic[] = [];
        const url = `http://127.0.0.1:${port}`;
        for (let tries = 0; tries < 100; tries++) {
          if ((await fetch(url).catch(() => undefined)) !== undefined) break;
          await sleep(50);
        }
        const first = new ArtifactCache(join(spaced, 'a'), (w) => warnings.push(w), remote(url, warnings));
        const second = new ArtifactCache(join(spaced, 'b'), (w) => warnings.push(w), remote(url, warnings));
        expect(await first.get(key)).toBeUndefined();
        await first.put(key, entry);
        expect(textOf(await second.get(key))).toEqual(whole);
        expect(readFileSync(join(folder, 'store/ac', key)).equals(packEntry(key, entry))).toBe(true);
        expect(warnings).toEqual([]);
      } finally {
        const ended = new Promise((done) => server.once('exit', done));
        server.kill('SIGTERM');
        await ended;
        spawnSync('rm', ['-rf', folder]);
      }
    }));
});
