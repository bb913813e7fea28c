/**
 * A cache that others share, on a server that knows nothing of us: `GET`, `HEAD` and `PUT` of `URL/ac/KEY`, as Bazel's and
 * ccache's remote caches are spoken to. An entry is one file: a line of JSON that tells its parts, and the parts behind it.
 */

import { toolCodes } from '../diagnostics/codes/tools.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import type { Entry } from './cache-entries.js';
import { sha256 } from './fingerprint.js';

export interface RemoteCacheOptions {
  readonly url: string;
  /** `ro` only reads. */
  readonly mode: 'ro' | 'rw';
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** Milliseconds for one request. */
  readonly timeout?: number;
}

const defaultTimeout = 5000;
const format = 'tilewright-cache-1';
/** Nobody's kernel is larger; a server that sends more has lost its way. */
const mostBytes = 2 ** 28;

interface Header {
  readonly format: string;
  readonly key: string;
  readonly files: readonly { readonly name: string; readonly size: number; readonly sha256: string }[];
}

/** An entry as one file. */
export function packEntry(key: string, entry: Entry): Uint8Array {
  const files = [...entry].map(([name, bytes]) => ({ name, size: bytes.length, sha256: sha256(bytes) }));
  const header: Header = { format, key, files };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...entry.values()]);
}

/** @returns the entry, or undefined where the bytes are not a whole entry of that key. */
export function unpackEntry(key: string, packed: Uint8Array): Entry | undefined {
  const end = packed.indexOf(10);
  if (end < 0) return undefined;
  try {
    const header = JSON.parse(Buffer.from(packed.subarray(0, end)).toString('utf8')) as Header;
    if (header.format !== format || header.key !== key) return undefined;
    const entry = new Map<string, Uint8Array>();
    let at = end + 1;
    for (const { name, size, sha256: hash } of header.files) {
      const bytes = packed.subarray(at, at + size);
      // Names become files of a folder.
      if (!/^[\w-][\w.-]*$/.test(name) || bytes.length !== size || sha256(bytes) !== hash) return undefined;
      entry.set(name, bytes);
      at += size;
    }
    return at === packed.length ? entry : undefined;
  } catch {
    return undefined;
  }
}

export class RemoteCache {
  /** After the first failure the server is left alone: each further one would cost its time-out. */
  private given = false;

  constructor(
    private readonly options: RemoteCacheOptions,
    private readonly warn: (diagnostic: Diagnostic) => void,
  ) {}

  private giveUp(why: string): undefined {
    if (!this.given) this.warn(toolCodes.remoteCacheFailed({ url: withoutSecrets(this.options.url), why }));
    this.given = true;
    return undefined;
  }

  private async request(method: 'GET' | 'HEAD' | 'PUT', key: string, body?: Uint8Array): Promise<Response | undefined> {
    const { url, token, timeout = defaultTimeout } = this.options;
    if (this.given) return undefined;
    try {
      const { origin, pathname, search, username, password } = new URL(url);
      const login =
        username === '' ? undefined : btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
      const authorization = token !== undefined ? `Bearer ${token}` : login && `Basic ${login}`;
      return await fetch(`${origin}${pathname.replace(/\/$/, '')}/ac/${key}${search}`, {
        method,
        signal: AbortSignal.timeout(timeout),
        ...(authorization ? { headers: { authorization } } : {}),
        ...(body ? { body } : {}),
      });
    } catch (error) {
      return this.giveUp(reasonOf(error, timeout));
    }
  }

  /** The entry of a key; undefined where the server has none, or cannot be used. */
  async get(key: string): Promise<Entry | undefined> {
    const answer = await this.request('GET', key);
    if (!answer) return undefined;
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) return this.giveUp(`it answered ${answer.status}`);
    if (Number(answer.headers.get('content-length') ?? 0) > mostBytes) return this.giveUp('its answer is too large');
    try {
      const packed = new Uint8Array(await answer.arrayBuffer());
      return unpackEntry(key, packed) ?? this.giveUp('what it sent is no entry of this cache');
    } catch (error) {
      return this.giveUp(reasonOf(error, this.options.timeout ?? defaultTimeout));
    }
  }

  /** Gives an entry to the server, unless it only reads or has it. */
  async put(key: string, entry: Entry): Promise<void> {
    if (this.options.mode === 'ro') return;
    const there = await this.request('HEAD', key);
    if (!there || there.status === 200) return;
    const answer = await this.request('PUT', key, packEntry(key, entry));
    if (answer && !answer.ok) this.giveUp(`it answered ${answer.status} to a PUT`);
  }
}

/** The words of a failed request: the system's code where there is one, as ECONNREFUSED. */
function reasonOf(error: unknown, timeout: number): string {
  const { name, message, cause } = error as {
    name?: string;
    message?: string;
    cause?: { code?: string; message?: string };
  };
  if (name === 'TimeoutError') return `no answer within ${timeout / 1000} s`;
  return cause?.code ?? cause?.message ?? message ?? String(error);
}

function withoutSecrets(url: string): string {
  try {
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname.replace(/\/$/, '')}`;
  } catch {
    return url;
  }
}
