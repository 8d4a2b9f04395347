import type { Clock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/errors.ts';
import type { SessionAudit } from '../audit/keep-audit.ts';
import type { Command, Report, Want } from '../state/command.ts';
import { decide } from '../state/decide.ts';
import type { Decided, Moment } from '../state/decided.ts';
import { dependsOnWorkspace } from '../state/depends-on-workspace.ts';
import { type Fact, fleeting, type Happened } from '../state/fact.ts';
import { holdsChanges } from '../state/held/holds-changes.ts';
import { opensNetwork } from '../state/opens-network.ts';
import { reduce } from '../state/reduce.ts';
import type { SessionState } from '../state/state.ts';

/** The one way to a session: every client, screen and effect sends its commands here, and they are taken in turn. */
export interface SessionChannel extends AsyncDisposable {
  readonly state: SessionState;
  /**
   * Resolves when the facts of the command are on disk and subscribers were told. Rejects with a refusal, or with
   * EVIDENCE_WRITE_FAILED; nothing has changed then.
   */
  send(command: Command): Promise<Taken>;
  /** Called with each change, in order, until it throws; answers how to stop that. */
  subscribe(told: (state: SessionState, facts: readonly Happened[]) => void): () => void;
  /** Aborts when the session is over: what was sent has been told, and nothing will be. */
  readonly closed: AbortSignal;
}

export interface ChannelParts {
  readonly state: SessionState;
  readonly thread: { append(facts: readonly Happened[]): Promise<void> };
  /** Has a line of every accepted command on disk before anything of it happens. */
  readonly audit?: SessionAudit;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Takes out of words what nobody may read again; before they are written, told or judged. */
  readonly mask?: (text: string) => string;
  /** Digest of what the work tree is like now; asked before a command that depends on it is decided. */
  readonly fingerprint?: () => Promise<string>;
  /** Rejects where a command could reach what approves it; asked before a network is opened. */
  readonly requireApart?: () => Promise<void>;
  /** Rejects where no branch can be made that holds a change; asked before changes are held. */
  readonly requireHoldable?: () => Promise<void>;
  /**
   * Does what is wanted and sends reports of it; called after the facts are on disk. A rejection ends the turn as
   * failed.
   */
  readonly perform: (want: Want, world: World) => Promise<void>;
}

/** What whoever sent a command gets. */
type Taken = Pick<Decided, 'lease' | 'turn'>;

function isReport(command: Command): command is Report {
  return 'turn' in command;
}

/** What effects see of their session, and how they tell what came of them. */
export interface World {
  /** As it is now. */
  readonly state: () => SessionState;
  readonly send: (report: Report) => Promise<unknown>;
  /**
   * The same where nobody waits for it to be on disk: taken in its turn, with what is sent next or after a moment. What
   * cannot be written has not happened, and nobody is told.
   */
  readonly mention: (report: Report) => void;
}

function timeOf(clock: Clock): Pick<Moment, 'nowMs' | 'monotonicMs'> {
  return { nowMs: clock.now(), monotonicMs: clock.monotonic() };
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
  mask,
  ...parts
}: ChannelParts): SessionChannel {
  let { state } = parts;
  const subscribers = new Set<(state: SessionState, facts: readonly Happened[]) => void>();
  const over = new AbortController();
  const closed = new AbortController();
  let timer: AbortController | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: ReportBatch<Taken> | undefined;

  const withoutSecrets = (facts: readonly Fact[]): readonly Fact[] =>
    mask === undefined ? facts : facts.map((fact) => maskFact(fact, mask));
  const look = async (now: SessionState, command: Command): Promise<Pick<Moment, 'workspace'>> => {
    if (requireApart !== undefined && opensNetwork(now, command)) await requireApart();
    if (requireHoldable !== undefined && holdsChanges(now, command)) await requireHoldable();
    const isAsked = fingerprint !== undefined && dependsOnWorkspace(now, command);
    return isAsked ? { workspace: await fingerprint() } : {};
  };
  const take = async (command: Command): Promise<Taken> => {
    const time = timeOf(clock);
    const { nowMs } = time;
    const before = state;
    try {
      const seen = await look(before, command);
      const decided = decide(before, command, { ...time, newId, ...seen });
      const { wants, facts: bare, ...answer } = decided;
      const facts = withoutSecrets(bare);
      await audit?.accepted(command, before, facts);
      await happen(facts, nowMs);
      for (const want of wants) void start(want);
      return answer;
    } catch (fault) {
      await audit?.failed(command, before, fault);
      throw fault;
    }
  };
  /** Reports that wait for their turn together: one write to the disk for all of them. */
  const takeReports = async (batch: readonly WaitingReport<Taken>[]): Promise<void> => {
    const time = timeOf(clock);
    const { nowMs } = time;
    const facts: Fact[] = [];
    const taken: (WaitingReport<Taken> & { readonly wants: readonly Want[] })[] = [];
    let next = state;
    for (const one of batch) {
      try {
        const decided = decide(next, one.report, { ...time, newId });
        const kept = withoutSecrets(decided.facts);
        next = kept.reduce((sofar, fact) => reduce(sofar, { ...fact, atMs: nowMs }), next);
        facts.push(...kept);
        taken.push({ ...one, wants: decided.wants });
      } catch (fault) {
        one.reject(fault);
      }
    }
    try {
      await happen(facts, nowMs, next);
    } catch (fault) {
      for (const { reject } of taken) reject(fault);
      return;
    }
    for (const { wants, resolve } of taken) {
      for (const want of wants) void start(want);
      resolve({});
    }
  };
  /** `after`: what they make of the state, where that is known. */
  const happen = async (facts: readonly Fact[], atMs: number, after?: SessionState): Promise<void> => {
    if (facts.length === 0) return;
    const happened = facts.map((fact): Happened => ({ ...fact, atMs }));
    const lasting = happened.filter(({ type }) => !fleeting.has(type));
    if (lasting.length > 0) await thread.append(lasting);
    const { lease } = state;
    state = after ?? happened.reduce(reduce, state);
    if (state.lease?.endsAtMs !== lease?.endsAtMs) wakeAtExpiry();
    for (const told of subscribers) {
      try {
        told(state, happened);
      } catch {
        // What has happened has happened, whoever cannot hear of it.
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
    // What is reported after it is taken after it, and it waits for nothing.
    waiting?.hurry();
    waiting = undefined;
    const taken = last.then(() => take(masked));
    last = taken.catch(() => undefined);
    return taken;
  };
  const mention = (one: Report): void => {
    report(mask === undefined ? one : (maskCommand(one, mask) as Report)).catch(() => undefined);
  };
  const report = (one: Report): Promise<Taken> =>
    new Promise((resolve, reject) => {
      waiting ??= beginBatch();
      const { reports, hurry } = waiting;
      reports.push({ report: one, resolve, reject });
      if (reports.length < mostTogether) return;
      hurry();
      waiting = undefined;
    });
  const beginBatch = (): ReportBatch<Taken> => {
    const batch = openBatch<Taken>(clock);
    last = Promise.all([last, batch.due]).then(() => {
      if (waiting === batch) waiting = undefined;
      return takeReports(batch.reports);
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

/**
 * A command without what nobody may read again: words of clients, and everything that effects report. Digests of tokens
 * stay, and answers to questions: see `maskFact`.
 */
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
 * What is kept of an answer: whoever asked gets it as it is. A reply that was broken off is the sum of its pieces, and
 * what nobody may read again may have come in two of them.
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

/** A report on its way, and whoever waits for what comes of it. */
interface WaitingReport<Taken> {
  readonly report: Report;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (fault: unknown) => void;
}

/** Reports that are taken together: one write to the disk for all of them. */
interface ReportBatch<Taken> {
  readonly reports: WaitingReport<Taken>[];
  /** Resolves when it need not wait for more of them. */
  readonly due: Promise<void>;
  /** It is due. */
  hurry(): void;
}

/** How long reports for which nobody waits are gathered: less than people see, and many short calls. */
const gatheredMs = 50;

/** Reports of one batch; with more of them it is due. */
const mostTogether = 256;

/** A batch that is due when it is told so, and after a moment by itself. */
function openBatch<Taken>(clock: Clock): ReportBatch<Taken> {
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
