/** Grants: answers that also cover later tool uses. */
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { isInside } from '../../workspace/process/find-program.ts';
import type { Speaker } from '../state/fact.ts';
import { type InteractionAnswer, isConsent } from '../state/interaction.ts';
import { type Mask, useText } from './judge-approval.ts';
import {
  approvalKey,
  type ClassifiedUse,
  classifyUse,
  commandPattern,
  isCommand,
  isScoped,
  matchesPattern,
  subjectDigest,
  type ToolUse,
} from './tool-use.ts';

/** One point in time on both clocks: that of people, and that which never steps back. Milliseconds. */
export interface GrantMoment {
  readonly epochMs: number;
  readonly monotonicMs: number;
}

type GrantKind =
  /** That one call. */
  | 'once'
  /** The exact key, as long as this process lives. */
  | 'session'
  /** The exact key, for a while. */
  | 'ttl'
  /** Every change of a file in the scope of that run's plan. The scope is enforced before any approval is asked for. */
  | 'scope'
  /** The same subject in that directory and below it, for a while. */
  | 'directory'
  /** Commands that begin with the same program and subcommand, there, for a while. */
  | 'pattern'
  /** Every command that is not dangerous there and below, or every use of that tool, for a while. */
  | 'future'
  /** Every command, as long as this process lives. */
  | 'all_commands'
  /** Refuses every use of that tool without a question. */
  | 'declined';

/** An answer that also covers later uses. Plain data with digests and masked text only. */
export interface Grant {
  readonly id: string;
  readonly kind: GrantKind;
  readonly tool: string;
  readonly action: string;
  /** `approvalKey`; absent where the kind goes by something else. */
  readonly key?: string;
  /** `subjectDigest`, of kind `directory`. */
  readonly subject?: string;
  /** Of kind `scope`. */
  readonly runId?: string;
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

/**
 * Milliseconds until a grant expires: `undefined` if it has no expiry, 0 if it has expired. The larger elapsed time
 * of both clocks counts. So setting a clock back does not extend a grant, and time asleep counts.
 */
function timeLeftMs({ at, ttlMs }: Pick<Grant, 'at' | 'ttlMs'>, now: GrantMoment): number | undefined {
  const passed = Math.max(now.epochMs - at.epochMs, now.monotonicMs - at.monotonicMs);
  // A clock that never steps back did: it is that of another process.
  if (!(now.monotonicMs >= at.monotonicMs) || Number.isNaN(passed)) return 0;
  return ttlMs === undefined ? undefined : Math.max(0, ttlMs - passed);
}

function isLive(grant: Pick<Grant, 'at' | 'ttlMs'>, now: GrantMoment): boolean {
  return timeLeftMs(grant, now) !== 0;
}

/** A grant as a list shows it. */
function toListed(grant: Grant, now: GrantMoment) {
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

/** What an answer is turned into grants with. */
interface GrantGround {
  readonly now: GrantMoment;
  /** How long an answer "for a while" counts; 0: that one call. */
  readonly ttlSeconds: number;
  readonly by: Speaker;
  /** A new id, other at each call. */
  readonly newId: () => string;
  readonly mask: Mask;
}

const longestText = 200;
/** One day. */
const longestTtlMs = 86_400_000;
const commandTool = { tool: 'workspace.command', action: 'execute' } as const;

/**
 * Converts an accepted answer to grants: for this call (`once`), for later uses, or none. An answer without consent
 * grants nothing. Outside the sandbox, and for uses that are not known exactly, consent covers this call only. Pure.
 */
export function grantFrom(
  { option, applyToFuture }: Pick<InteractionAnswer, 'option' | 'applyToFuture'>,
  use: ToolUse,
  ground: GrantGround,
): readonly Grant[] {
  const text = useText(use, ground.mask, longestText);
  const make = (kind: GrantKind, more: Partial<Grant>, what: string): Grant => ({
    id: ground.newId(),
    kind,
    tool: use.request.tool,
    action: use.request.action,
    cwd: use.cwd,
    sandbox: use.sandbox,
    branch: use.branch,
    what,
    grantedBy: ground.by,
    at: ground.now,
    ...more,
  });
  if (!isConsent(option)) {
    const isLasting = applyToFuture === 'decline_all' && (option === 'deny' || option === 'abort');
    return isLasting ? [make('declined', {}, `no ${use.request.tool} ${use.request.action}`)] : [];
  }
  const key = approvalKey(use);
  const keyed = key === undefined ? {} : { key };
  const once = make('once', { ...keyed, useId: use.id }, text);
  if (use.isOutside) return [once];
  const reused = reusedBy(option, use, key, make, text, ttlOf(ground));
  const future = applyToFuture === 'accept_all' ? futureOf(use, make, ttlOf(ground)) : [];
  return [once, ...reused, ...future];
}

/** A server or tool of MCP is approved once; its key holds what it declares and reaches. */
function isForSession(option: string, use: ToolUse): boolean {
  return option === 'approve' && classifyUse(use).kind === 'mcp';
}

type Make = (kind: GrantKind, more: Partial<Grant>, what: string) => Grant;

function ttlOf({ ttlSeconds }: GrantGround): number {
  return ttlSeconds > 0 ? Math.min(ttlSeconds * 1000, longestTtlMs) : 0;
}

function reusedBy(
  option: string,
  use: ToolUse,
  key: string | undefined,
  make: Make,
  text: string,
  ttlMs: number,
): readonly Grant[] {
  if (option === 'approve_scope' && isScoped(use)) {
    const { runId } = use.request;
    return [make('scope', { runId }, 'every change of a file in the scope of the plan')];
  }
  if (option === 'allow_all_commands') return [make('all_commands', commandTool, 'every command')];
  if (key === undefined) return [];
  if (option === 'approve_session' || isForSession(option, use)) return [make('session', { key }, text)];
  if (ttlMs === 0) return [];
  if (option === 'approve_ttl') return [make('ttl', { key, ttlMs }, text)];
  const judged = classifyUse(use);
  const subject = subjectDigest(use);
  if (option === 'approve_directory_ttl' && subject !== undefined)
    return [make('directory', { subject, ttlMs }, text)];
  if (option !== 'approve_pattern_ttl') return [];
  const pattern = commandPattern(use, judged);
  return pattern === undefined
    ? [make('ttl', { key, ttlMs }, text)]
    : [make('pattern', { pattern, ttlMs }, `${pattern.join(' ')} …`)];
}

function futureOf(use: ToolUse, make: Make, ttlMs: number): readonly Grant[] {
  if (ttlMs === 0) return [];
  const { tool, action } = use.request;
  const isCommands = tool === commandTool.tool;
  const what = isCommands ? 'every command that is not dangerous' : `every ${tool} ${action}`;
  return [make('future', { ttlMs }, what)];
}

/** What is pre-approved in a session, as long as its process lives. */
export interface GrantLedger {
  /** What covers a use now; a word about one call alone is spent by it. */
  take(use: ToolUse): Coverage | undefined;
  add(grants: readonly Grant[]): void;
  /** Those that count now, the newest last, with the time that each has left. */
  list(): readonly ReturnType<typeof toListed>[];
  /** NOT_FOUND for an id that is none, or that is over. */
  require(id: string): void;
  /** Does nothing if the grant has expired. */
  revoke(id: string): void;
  now(): GrantMoment;
}

/** If there are more grants, the oldest are dropped, and their uses need a new answer. */
const maxGrants = 200;

/** Keeps grants in memory; they end with the process. */
export function keepGrants(clock: Pick<Clock, 'now' | 'monotonic'>): GrantLedger {
  let grants: readonly Grant[] = [];
  const now = (): GrantMoment => ({ epochMs: clock.now(), monotonicMs: clock.monotonic() });
  const live = (): readonly Grant[] => {
    const at = now();
    // An expired grant stays expired, even if a clock is set back.
    grants = grants.filter((grant) => isLive(grant, at));
    return grants;
  };
  const revoke = (id: string): void => {
    grants = grants.filter((grant) => grant.id !== id);
  };
  return {
    now,
    take(use) {
      const coverage = covers(live(), use, now());
      if (coverage?.grant.kind === 'once') revoke(coverage.grant.id);
      return coverage;
    },
    add(added) {
      grants = [...grants, ...added].slice(-maxGrants);
    },
    list() {
      const at = now();
      return live().map((grant) => toListed(grant, at));
    },
    require(id) {
      if (!live().some((grant) => grant.id === id))
        throw new WritError('NOT_FOUND', { message: 'no such approval, or it is over' });
    },
    revoke,
  };
}

/** An earlier answer that covers a use. A grant of kind `once` is spent by it. */
interface Coverage {
  readonly verdict: 'go' | 'refuse';
  readonly grant: Grant;
}

/**
 * Finds the grant that covers a use; `undefined` if a question is needed. Refusals come first. Outside the sandbox
 * only an answer to the same call counts. A grant is bound to one sandbox policy and one branch. A dangerous use
 * needs its exact key, or the grant for all commands.
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
  if (tool !== request.tool || (action !== request.action && kind !== 'scope')) return false;
  // A refusal also holds under another sandbox policy or branch.
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
    case 'scope':
      return isScoped(use) && grant.runId === use.request.runId;
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
