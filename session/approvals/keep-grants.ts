import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { isInside } from '../../workspace/process/find-program.ts';
import { approvalKey, subjectDigest } from './approval-key.ts';
import { type ClassifiedUse, classifyUse } from './classify-use.ts';
import { matchesPattern } from './command-pattern.ts';
import { type Grant, type GrantFact, type GrantMoment, isLive, reduceGrants, toListed } from './grant.ts';
import { isCommand, type ToolUse } from './tool-use.ts';

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

/** An earlier word about a use. One of kind `once` is spent by it: whoever goes on says so (`grant-spent`). */
interface Coverage {
  readonly verdict: 'go' | 'refuse';
  readonly grant: Grant;
}

/**
 * The earlier word that covers a use which would be asked about now; `undefined`: it is asked. What was declined
 * comes first. Outside the sandbox nothing counts but an answer to that very call. Every grant holds for one sandbox
 * policy and one branch, and a dangerous use is covered by its exact key, or by the word that allowed every command.
 */
export function covers(grants: readonly Grant[], use: ToolUse, now: GrantMoment): Coverage | undefined {
  const judged = classifyUse(use);
  const asked = { use, judged, key: approvalKey(use), subject: subjectDigest(use) };
  const live = grants.filter((grant) => isLive(grant, now) && isAbout(grant, use));
  const declined = live.find(({ kind }) => kind === 'declined');
  if (declined !== undefined) return { verdict: 'refuse', grant: declined };
  const grant = live.find((one) => reaches(one, asked));
  return grant && { verdict: 'go', grant };
}

function isAbout({ tool, action, sandbox, branch, kind }: Grant, { request, ...use }: ToolUse): boolean {
  if (tool !== request.tool || action !== request.action) return false;
  // A refusal does not end because the ground has changed.
  return kind === 'declined' || (sandbox === use.sandbox && branch === use.branch);
}

interface Asked {
  readonly use: ToolUse;
  readonly judged: ClassifiedUse;
  readonly key: string | undefined;
  readonly subject: string | undefined;
}

function reaches(grant: Grant, { use, judged, key, subject }: Asked): boolean {
  const isThisCall = grant.useId === use.id && grant.key === key;
  if (use.isOutside) return grant.kind === 'once' && isThisCall;
  const isHere = grant.cwd === use.cwd;
  const isHereOrBelow = isInside(grant.cwd, use.cwd);
  const isDangerous = judged.class === 'dangerous';
  switch (grant.kind) {
    case 'once':
      return isThisCall;
    case 'session':
    case 'ttl':
      return key !== undefined && grant.key === key;
    case 'directory':
      return (isDangerous ? isHere : isHereOrBelow) && subject !== undefined && grant.subject === subject;
    case 'pattern':
      return isHere && !isDangerous && matchesPattern(use, grant.pattern ?? []);
    case 'future':
      return isHereOrBelow && !isDangerous;
    case 'all_commands':
      return isCommand(use);
    case 'declined':
      return false;
  }
}
