/* Random octets and UUIDv7 identifiers. */
import { createHash, randomBytes } from 'node:crypto';

/** The only source of randomness. */
export function randomOctets(count: number): Buffer {
  return randomBytes(count);
}

/** UUIDv7 (RFC 9562, 5.7): time-ordered, 48 bits of `epochMs` then random. */
export function uuidV7(epochMs: number): string {
  return stamped(pooledOctets(16), epochMs);
}

const pool = { octets: Buffer.alloc(0), taken: 0 };

/** Random octets for names, generated in batches; no octet is used twice. Secrets do not use this pool. */
function pooledOctets(count: number): Buffer {
  if (pool.taken + count > pool.octets.length) {
    pool.octets = randomBytes(count * 256);
    pool.taken = 0;
  }
  pool.taken += count;
  return pool.octets.subarray(pool.taken - count, pool.taken);
}

/** Returns a UUIDv7 with its 74 random bits from SHA-256(`seed`). The same time and seed always give the same id. */
export function uuidV7From(epochMs: number, seed: string): string {
  return stamped(createHash('sha256').update(seed).digest().subarray(0, 16), epochMs);
}

function stamped(octets: Buffer, epochMs: number): string {
  octets.writeUIntBE(epochMs, 0, 6);
  octets[6] = 0x70 | ((octets[6] ?? 0) & 0x0f);
  octets[8] = 0x80 | ((octets[8] ?? 0) & 0x3f);
  const hex = octets.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The time in a UUIDv7, epoch milliseconds; `undefined` for any other text. */
export function uuidTimeMs(text: string): number | undefined {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(text)
    ? Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16)
    : undefined;
}
