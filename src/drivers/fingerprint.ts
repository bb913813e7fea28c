import { createHash } from 'node:crypto';

/** SHA-256 of bytes or text, in hexadecimal. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A key of named parts; no two different sets of parts have the same text. */
export function keyOf(parts: Readonly<Record<string, string | Uint8Array>>): string {
  const hash = createHash('sha256');
  for (const name of Object.keys(parts).sort()) {
    const content = parts[name]!;
    hash.update(`${name.length}:${name}=${content.length}:`).update(content);
  }
  return hash.digest('hex');
}
