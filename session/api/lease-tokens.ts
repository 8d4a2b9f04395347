/** Tokens of leases, and the rate limit of writes under a lease. */
import type { Clock } from '../../core/base/clock.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { makeToken } from '../../http/discovery.ts';

interface OfferedToken {
  readonly token: string;
  readonly tokenDigest: string;
}

export function offerToken(): OfferedToken {
  const token = makeToken();
  return { token, tokenDigest: sha256Hex(token) };
}

/** Keeps the token of the lease that is live: the state has its digest alone. */
export function keepToken(): (granted: string, offered: OfferedToken) => string | undefined {
  let held: OfferedToken | undefined;
  return (granted, offered) => {
    if (offered.tokenDigest === granted) held = offered;
    return held?.tokenDigest === granted ? held.token : undefined;
  };
}

/** Limit of writes under one lease within a window. */
const [most, windowMs] = [120, 60_000];

/** Counts the writes of a lease; RATE_LIMITED with the seconds until the oldest of them is out of the window. */
export function countWrites(clock: Pick<Clock, 'monotonic'>): (tokenDigest: string) => void {
  let lease = '';
  let at: number[] = [];
  return (tokenDigest) => {
    const now = clock.monotonic();
    at = tokenDigest === lease ? at.filter((one) => one > now - windowMs) : [];
    lease = tokenDigest;
    const [oldest] = at;
    if (at.length >= most && oldest !== undefined) {
      const seconds = Math.max(1, Math.ceil((oldest + windowMs - now) / 1000));
      throw new WritError('RATE_LIMITED', { detail: { retry_after_seconds: seconds, most } });
    }
    at.push(now);
  };
}
