import { hash, timingSafeEqual } from 'node:crypto';

/** Lower-case hex SHA-256. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Raw SHA-256. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** Equality of secrets in time that depends on length only. */
export function equalSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const left = Buffer.from(a as Uint8Array);
  const right = Buffer.from(b as Uint8Array);
  return left.length === right.length && timingSafeEqual(left, right);
}
