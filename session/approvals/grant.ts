import { toRfc3339 } from '../../core/base/clock.ts';
import type { Speaker } from '../state/fact.ts';

/** One point in time on both clocks: that of people, and that which never steps back. Milliseconds. */
export interface GrantMoment {
  readonly epochMs: number;
  readonly monotonicMs: number;
}

export type GrantKind =
  /** That one call. */
  | 'once'
  /** The exact key, as long as this process lives. */
  | 'session'
  /** The exact key, for a while. */
  | 'ttl'
  /** The same subject in that directory and below it, for a while. */
  | 'directory'
  /** Commands that begin with the same program and subcommand, there, for a while. */
  | 'pattern'
  /** Every command that is not dangerous there and below, or every use of that tool, for a while. */
  | 'future'
  /** Every command, as long as this process lives. */
  | 'all_commands'
  /** No use of that tool is made, nor asked about. */
  | 'declined';

/** What somebody said beforehand about uses to come. Plain data; holds digests, and no text that was not masked. */
export interface Grant {
  readonly id: string;
  readonly kind: GrantKind;
  readonly tool: string;
  readonly action: string;
  /** `approvalKey`; absent where the kind goes by something else. */
  readonly key?: string;
  /** `subjectDigest`, of kind `directory`. */
  readonly subject?: string;
  /** First words, of kind `pattern`. */
  readonly pattern?: readonly string[];
  /** Of kind `once`. */
  readonly useId?: string;
  readonly cwd: string;
  readonly sandbox: string;
  readonly branch: string;
  /** What it covers, as people read it: masked, visible, short. */
  readonly what: string;
  readonly grantedBy: Speaker;
  readonly at: GrantMoment;
  /** Absent: it ends with the process. */
  readonly ttlMs?: number;
}

/** What happens to grants. They die with their process: nobody reads such a fact into another one. */
export type GrantFact =
  | { readonly type: 'granted'; readonly grant: Grant }
  | { readonly type: 'grant-spent' | 'grant-revoked'; readonly id: string };

const mostGrants = 200;

/** Pure. Of too many the oldest are forgotten, which means that their uses are asked about again. */
export function reduceGrants(grants: readonly Grant[], fact: GrantFact): readonly Grant[] {
  if (fact.type !== 'granted') return grants.filter(({ id }) => id !== fact.id);
  return [...grants.filter(({ id }) => id !== fact.grant.id), fact.grant].slice(-mostGrants);
}

/**
 * Milliseconds that a grant has left; `undefined` for one without an end, 0 for one that is over. Both clocks have to
 * agree: one that is set back lengthens nothing, a machine that slept is no shorter time.
 */
function timeLeftMs({ at, ttlMs }: Pick<Grant, 'at' | 'ttlMs'>, now: GrantMoment): number | undefined {
  const passed = Math.max(now.epochMs - at.epochMs, now.monotonicMs - at.monotonicMs);
  // A clock that never steps back did: it is that of another process.
  if (!(now.monotonicMs >= at.monotonicMs) || Number.isNaN(passed)) return 0;
  return ttlMs === undefined ? undefined : Math.max(0, ttlMs - passed);
}

export function isLive(grant: Pick<Grant, 'at' | 'ttlMs'>, now: GrantMoment): boolean {
  return timeLeftMs(grant, now) !== 0;
}

/** A grant as a list shows it. */
export function toListed(grant: Grant, now: GrantMoment) {
  const { id, kind, what, cwd, branch, grantedBy } = grant;
  const left = timeLeftMs(grant, now);
  return {
    id,
    kind,
    what,
    cwd,
    branch,
    grantedBy,
    grantedAt: toRfc3339(grant.at.epochMs),
    ...(left === undefined
      ? {}
      : { expiresAt: toRfc3339(now.epochMs + left), secondsLeft: Math.ceil(left / 1000) }),
    ...(kind === 'once' ? { usesLeft: 1 } : {}),
  };
}
