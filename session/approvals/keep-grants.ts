import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Coverage, covers } from './covers.ts';
import { type Grant, type GrantFact, type GrantMoment, isLive, reduceGrants, toListed } from './grant.ts';
import type { ToolUse } from './tool-use.ts';

/** What is pre-approved in a session, as long as its process lives. */
export interface GrantLedger {
  /** What covers a use now; a word about one call alone is spent by it. */
  take(use: ToolUse): Coverage | undefined;
  add(grants: readonly Grant[]): void;
  /** Those that count now, the newest last, with the time that each has left. */
  list(): readonly ReturnType<typeof toListed>[];
  /** NOT_FOUND for an id that is none, or that is over. */
  require(id: string): void;
  /** Takes it back; what is over already stays so. */
  revoke(id: string): void;
  now(): GrantMoment;
}

/** Keeps grants in memory; `told` hears each fact. */
export function keepGrants(
  clock: Pick<Clock, 'now' | 'monotonic'>,
  told: (fact: GrantFact) => void = () => {},
): GrantLedger {
  let grants: readonly Grant[] = [];
  const now = (): GrantMoment => ({ epochMs: clock.now(), monotonicMs: clock.monotonic() });
  const happen = (fact: GrantFact): void => {
    grants = reduceGrants(grants, fact);
    told(fact);
  };
  const live = (): readonly Grant[] => {
    const at = now();
    // What is over stays over, even if a clock is set back.
    grants = grants.filter((grant) => isLive(grant, at));
    return grants;
  };
  return {
    now,
    take(use) {
      const coverage = covers(live(), use, now());
      if (coverage?.grant.kind === 'once') happen({ type: 'grant-spent', id: coverage.grant.id });
      return coverage;
    },
    add(added) {
      for (const grant of added) happen({ type: 'granted', grant });
    },
    list() {
      const at = now();
      return live().map((grant) => toListed(grant, at));
    },
    require(id) {
      if (!live().some((grant) => grant.id === id))
        throw new WritError('NOT_FOUND', { message: 'no such approval, or it is over' });
    },
    revoke(id) {
      if (grants.some((grant) => grant.id === id)) happen({ type: 'grant-revoked', id });
    },
  };
}
