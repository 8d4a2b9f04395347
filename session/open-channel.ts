/** The channel of a session: serialises commands, writes their facts and starts effects. */

import { channel } from 'node:diagnostics_channel';
import type { Clock } from '../core/base/clock.ts';
import { messageOf } from '../core/base/errors.ts';
import { requireNetworkAllowed } from '../engine/config/session-policy.ts';
import type { GrantLedger } from './approvals/grants.ts';
import type { SessionAudit } from './audit/keep-audit.ts';
import type { Command, Decided, Moment, Report, Want } from './state/command.ts';
import {
  choosesModel,
  dependsOnWorkspace,
  holdsChanges,
  opensNetwork,
  requireWriter,
} from './state/control.ts';
import { decide } from './state/decide.ts';
import { type Fact, fleeting, type Happened, type Proof, type TurnEnd } from './state/fact.ts';
import { reduce } from './state/reduce.ts';
import type { SessionState } from './state/state.ts';
import type { attachTo, SaidWithText } from './thread/attachments.ts';

/** A turn that begins or has ended. */
export interface TurnEvent {
  readonly turn: string;
  readonly end?: TurnEnd;
}

/** Publishes every turn of the sessions of this process as `TurnEvent`. */
export const turnEvents = channel('writ.turn');

/** The only access to a session: clients, screens and effects send commands here, and they run one after the other. */
export interface SessionChannel extends AsyncDisposable {
  readonly state: SessionState;
  /**
   * Resolves when the facts of the command are on disk and subscribers were notified. Rejects with a refusal, or with
   * EVIDENCE_WRITE_FAILED; the state is then unchanged.
   */
  send(command: Command): Promise<Taken>;
  /** Called with each change, in order, until it throws; answers how to stop that. */
  subscribe(told: (state: SessionState, facts: readonly Happened[]) => void): () => void;
  /** Aborts when the session is closed and all facts were published. */
  readonly closed: AbortSignal;
}

export interface ChannelParts {
  readonly state: SessionState;
  readonly thread: { append(facts: readonly Happened[]): Promise<void> };
  /** Has a line of every accepted command on disk before anything of it happens. */
  readonly audit?: SessionAudit;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Masks secrets before text is written, published or classified. */
  readonly mask?: (text: string) => string;
  /** Stores what comes with a message. Absent: nothing may come with one. */
  readonly attach?: (said: SaidWithText) => ReturnType<typeof attachTo>;
  /** Digest of the working tree; called before a command that depends on it. */
  readonly fingerprint?: () => Promise<string>;
  /** Rejects if a sandboxed command could approve itself; called before the network is opened. */
  readonly requireApart?: () => Promise<void>;
  /** Rejects if changes cannot be held on a branch; called before that is switched on. */
  readonly requireHoldable?: () => Promise<void>;
  /** Throws if the policy does not allow the model; called before it is chosen. */
  readonly requireModel?: (model: string) => void;
  /** Rejects if a hook refuses what a model is to get; called before its facts are written. */
  readonly admit?: (wants: readonly Want[], state: SessionState) => Promise<void>;
  /**
   * Does what is wanted and sends reports of it; called after the facts are on disk. A rejection ends the turn as
   * failed.
   */
  readonly perform: (want: Want, session: EffectContext) => Promise<void>;
}

/** The result of `send`. */
type Taken = Pick<Decided, 'lease' | 'turn'>;

function isReport(command: Command): command is Report {
  return 'turn' in command;
}

/** The state and the ways to report that an effect gets. */
export interface EffectContext {
  /** As it is now. */
  readonly state: () => SessionState;
  readonly send: (report: Report) => Promise<unknown>;
  /** Sends without waiting for the disk, batched with later reports. A report that cannot be written is dropped. */
  readonly mention: (report: Report) => void;
}

/** Opens the channel of a session. Time is a command, too: the end of a lease comes by timer. */
export function openChannel({
  thread,
  audit,
  clock,
  newId,
  perform,
  fingerprint,
  requireApart,
  requireHoldable,
  requireModel,
  mask,
  ...parts
}: ChannelParts): SessionChannel {
  let { state } = parts;
  const subscribers = new Set<(state: SessionState, facts: readonly Happened[]) => void>();
  const over = new AbortController();
  const closed = new AbortController();
  let timer: AbortController | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: ReportBatch | undefined;

  const withoutSecrets = (facts: readonly Fact[]): readonly Fact[] =>
    mask === undefined ? facts : facts.map((fact) => maskFact(fact, mask));
  const look = async (now: SessionState, command: Command): Promise<Pick<Moment, 'workspace'>> => {
    if (opensNetwork(now, command)) {
      requireNetworkAllowed(now.ground.policy ?? []);
      await requireApart?.();
    }
    const model = choosesModel(now, command);
    if (model !== undefined) requireModel?.(model);
    if (requireHoldable !== undefined && holdsChanges(now, command)) await requireHoldable();
    const isAsked = fingerprint !== undefined && dependsOnWorkspace(now, command);
    return isAsked ? { workspace: await fingerprint() } : {};
  };
  /** Only who may write has anything stored. */
  const withAttachments = async (now: SessionState, command: Command): Promise<Command> => {
    if (command.type !== 'submit' || parts.attach === undefined) return command;
    requireWriter(now, command.proof);
    const { text, given } = command;
    return {
      ...command,
      ...(await parts.attach({ text, ...(given === undefined ? {} : { attachments: given }) })),
    };
  };
  /** Decides a batch, writes its facts at once, then starts its effects. */
  const take = async (batch: readonly Waiting[]): Promise<void> => {
    const time = { nowMs: clock.now(), monotonicMs: clock.monotonic() };
    const refuse = async ({ command, reject }: Waiting, before: SessionState, fault: unknown) => {
      await audit?.failed(command, before, fault);
      reject(fault);
    };
    const facts: Fact[] = [];
    const accepted: { readonly one: Waiting; readonly before: SessionState; readonly decided: Decided }[] =
      [];
    let next = state;
    for (const one of batch) {
      const before = next;
      try {
        const seen = isReport(one.command) ? {} : await look(before, one.command);
        const command = await withAttachments(before, one.command);
        const decided = decide(before, command, { ...time, newId, ...seen });
        if (parts.admit !== undefined && decided.wants.length > 0) await parts.admit(decided.wants, before);
        const kept = withoutSecrets(decided.facts);
        await audit?.accepted(one.command, before, kept);
        next = kept.reduce((sofar, fact) => reduce(sofar, { ...fact, atMs: time.nowMs }), before);
        facts.push(...kept);
        accepted.push({ one, before, decided });
      } catch (fault) {
        await refuse(one, before, fault);
      }
    }
    try {
      await happen(facts, time.nowMs, next);
    } catch (fault) {
      for (const { one, before } of accepted) await refuse(one, before, fault);
      return;
    }
    for (const { one, decided } of accepted) {
      const { wants, facts: _, ...answer } = decided;
      for (const want of wants) void start(want);
      one.resolve(answer);
    }
  };
  const happen = async (facts: readonly Fact[], atMs: number, after: SessionState): Promise<void> => {
    if (facts.length === 0) return;
    const happened = facts.map((fact): Happened => ({ ...fact, atMs }));
    for (const fact of facts)
      if (fact.type === 'turn-began') turnEvents.publish({ turn: fact.turn } satisfies TurnEvent);
      else if (fact.type === 'turn-ended')
        turnEvents.publish({ turn: fact.turn, end: fact.end } satisfies TurnEvent);
    const lasting = happened.filter(({ type }) => !fleeting.has(type));
    if (lasting.length > 0) await thread.append(lasting);
    const { lease } = state;
    state = after;
    if (state.lease?.endsAtMs !== lease?.endsAtMs) wakeAtExpiry();
    for (const told of subscribers) {
      try {
        told(state, happened);
      } catch {
        // A failing subscriber does not undo the change.
        subscribers.delete(told);
      }
    }
  };
  const start = async (want: Want): Promise<void> => {
    const { turn } = state;
    try {
      await perform(want, { state: () => state, send, mention });
    } catch (fault) {
      if (turn !== undefined) await send({ turn, type: 'end', end: 'failed', reason: messageOf(fault) });
    }
  };
  const send = (command: Command): Promise<Taken> => {
    const masked = mask === undefined ? command : maskCommand(command, mask);
    if (isReport(masked)) {
      const taken = report(masked);
      waiting?.hurry();
      return taken;
    }
    // The order of reports and commands is kept.
    waiting?.hurry();
    waiting = undefined;
    return new Promise((resolve, reject) => {
      last = last.then(() => take([{ command: masked, resolve, reject }]));
    });
  };
  const mention = (one: Report): void => {
    report(mask === undefined ? one : (maskCommand(one, mask) as Report)).catch(() => undefined);
  };
  const report = (one: Report): Promise<Taken> =>
    new Promise((resolve, reject) => {
      waiting ??= beginBatch();
      const { reports, hurry } = waiting;
      reports.push({ command: one, resolve, reject });
      if (reports.length < mostTogether) return;
      hurry();
      waiting = undefined;
    });
  const beginBatch = (): ReportBatch => {
    const batch = openBatch(clock);
    last = Promise.all([last, batch.due]).then(() => {
      if (waiting === batch) waiting = undefined;
      return take(batch.reports);
    });
    return batch;
  };
  const wakeAtExpiry = (): void => {
    timer?.abort();
    const { lease } = state;
    if (lease === undefined) return;
    timer = new AbortController();
    const signal = AbortSignal.any([timer.signal, over.signal]);
    clock.sleep(Math.max(0, lease.endsAtMs - clock.monotonic()), signal).then(
      // A timer may fire a fraction of a millisecond early.
      () => send({ type: 'tick', dueMs: lease.endsAtMs }),
      () => undefined,
    );
  };
  return {
    get state() {
      return state;
    },
    send,
    subscribe(told) {
      subscribers.add(told);
      return () => void subscribers.delete(told);
    },
    closed: closed.signal,
    async [Symbol.asyncDispose]() {
      over.abort();
      waiting?.hurry();
      await last;
      closed.abort();
    },
  };
}

/** Masks the words of clients and everything that effects report. Token digests and answers stay (see `maskFact`). */
function maskCommand(command: Command, mask: (text: string) => string): Command {
  switch (command.type) {
    case 'submit':
      return { ...command, text: mask(command.text) };
    case 'dispatch':
      return { ...command, prompt: mask(command.prompt) };
    case 'respond': {
      const { note } = command.given;
      return note === undefined ? command : { ...command, given: { ...command.given, note: mask(note) } };
    }
    case 'goal-start':
      return { ...command, objective: mask(command.objective), criteria: command.criteria.map(mask) };
    case 'goal-cancel':
      return command.reason === undefined ? command : { ...command, reason: mask(command.reason) };
    case 'review': {
      const { comment } = command;
      return comment === undefined ? command : { ...command, comment: mask(comment) };
    }
    // By far the most of what is reported; its other texts are ours.
    case 'tool': {
      const { type, turn, id, status, ...words } = command;
      return { ...command, ...(masked(words, mask) as typeof words) };
    }
    case 'attach':
    case 'detach':
    case 'cancel':
    case 'revoke':
    case 'reclaim':
    case 'tick':
      return command;
    default:
      return masked(command, mask) as Command;
  }
}

/**
 * Masks what is stored of an answer; the effect gets the answer itself. A broken reply is masked as a whole, because
 * a secret may span two pieces.
 */
function maskFact(fact: Fact, mask: (text: string) => string): Fact {
  if (fact.type === 'replied' || fact.type === 'noted') return { ...fact, text: mask(fact.text) };
  return fact.type === 'answered' ? (masked(fact, mask) as Fact) : fact;
}

function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => masked(one, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one, mask)]));
}

interface Waiting {
  readonly command: Command;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (fault: unknown) => void;
}

/** Reports that are written together. */
interface ReportBatch {
  readonly reports: Waiting[];
  /** Resolves when it need not wait for more of them. */
  readonly due: Promise<void>;
  /** It is due. */
  hurry(): void;
}

/** How long mentioned reports are batched. */
const gatheredMs = 50;

/** Reports of one batch; with more of them it is due. */
const mostTogether = 256;

/** A batch is due when `hurry` is called, or after `gatheredMs`. */
function openBatch(clock: Clock): ReportBatch {
  const over = new AbortController();
  const { promise: due, resolve } = Promise.withResolvers<void>();
  clock.sleep(gatheredMs, over.signal).then(resolve, resolve);
  return {
    reports: [],
    due,
    hurry() {
      resolve();
      over.abort(hurried);
    },
  };
}

/** Made once: a reason that is made for each batch costs as much as the batch. */
const hurried = new Error('the batch is due');

/** Revokes a grant as the controller. NOT_FOUND for an unknown or expired id. */
export async function revokeGrant(
  channel: SessionChannel,
  grants: GrantLedger,
  { id, proof }: { readonly id: string; readonly proof: Proof },
): Promise<void> {
  grants.require(id);
  await channel.send({ type: 'revoke', grant: id, proof });
  grants.revoke(id);
}
