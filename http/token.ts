import { createHash, timingSafeEqual } from 'node:crypto';
import { randomOctets } from '../core/base/ids.ts';

/** A new secret of 32 random octets, as 43 characters of base64url. */
export function makeToken(): string {
  return randomOctets(32).toString('base64url');
}

/** True where the two are the same; how long it takes says nothing of either, lengths included. */
export function matchesToken(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
