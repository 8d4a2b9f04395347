/** The state of a session as clients get it. */
import { toRfc3339 } from '../../core/base/clock.ts';
import { limitOf } from './change-settings.ts';
import type { SessionGround } from './fact.ts';
import { toGoalView } from './goal.ts';
import { type Interaction, type InteractionKind, optionsFor } from './interaction.ts';
import { isApproval, type Question } from './question.ts';
import type { SessionSettings } from './settings.ts';
import type { SessionState, ToolCall, TranscriptEntry } from './state.ts';
import { roundedUsage, type SessionUsage } from './usage.ts';
import type { SessionPlan } from './work.ts';

/** A session as clients get it: camelCase names, snake_case values. */
export type Snapshot = ReturnType<typeof toSnapshot>;

/** Pure; holds no token, and of secret questions no answer. */
export function toSnapshot(state: SessionState) {
  const { ground, settings, status, updatedAtMs, earlier } = state;
  const { sessionId, threadId, workingDir, provider, capabilities } = ground;
  return {
    sessionId,
    threadId,
    workingDir,
    provider: settings.model === undefined ? provider : { ...provider, model: settings.model },
    capabilities,
    controller: toController(state),
    status,
    settings,
    ...(earlier === 0 ? {} : { earlier }),
    transcript: state.transcript.map(toEntry),
    plans: state.plans.map(toPlan),
    tasks: state.tasks.map(timed),
    toolCalls: state.toolCalls.map(toToolCall),
    patchsets: state.patchsets.map(timed),
    interactions: state.interactions.map((one) => toInteraction(one, state.settings)),
    ...(state.gates.length === 0 ? {} : { gates: state.gates }),
    ...(state.outcome === undefined ? {} : { outcome: state.outcome }),
    ...(state.instructions.length === 0 ? {} : { instructions: state.instructions }),
    ...(state.skills.length === 0 ? {} : { skills: state.skills }),
    ...usageOf(state),
    ...heldOf(state),
    ...(state.goal === undefined ? {} : { goal: toGoalView(state.goal) }),
    ...(state.reviews.length === 0
      ? {}
      : { reviews: state.reviews.map(({ id: _, told: __, ...one }) => one) }),
    updatedAt: toRfc3339(updatedAtMs),
  };
}

/** Clients do not get the internals of a plan. */
function toPlan({ run: _, steps, ...plan }: SessionPlan) {
  return { ...timed(plan), steps: steps.map(({ id, step, status }) => ({ id, step, status })) };
}

/** Absent without model calls and without a limit. */
function usageOf(state: SessionState): { readonly usage?: SessionUsage } {
  const { turn, ...whole } = state.usage;
  const limitUsd = limitOf(state);
  if (whole.contextTokens === undefined && limitUsd === undefined) return {};
  return {
    usage: {
      ...roundedUsage(whole),
      ...(turn === undefined ? {} : { turn: roundedUsage(turn) }),
      ...(limitUsd === undefined ? {} : { limitUsd }),
    },
  };
}

/** Absent where no change waits to be reviewed. */
function heldOf({ held }: SessionState) {
  if (held === undefined) return {};
  const { runId, commit, branch, target, patchset } = held;
  return { held: { runId, commit, branch, target: target.ref, patchset } };
}

function timed<T extends { readonly updatedAtMs: number }>({ updatedAtMs, ...one }: T) {
  return { ...one, updatedAt: toRfc3339(updatedAtMs) };
}

function toController({ lease, ground: { local, attachable } }: SessionState) {
  const loopbackOnly = true;
  if (lease !== undefined) {
    const { kind, clientId, expiresAtMs } = lease;
    return {
      kind,
      ownerLabel: clientId,
      canWrite: true,
      leaseExpiresAt: toRfc3339(expiresAtMs),
      loopbackOnly,
    };
  }
  if (local !== 'none') return { kind: local, canWrite: true, loopbackOnly };
  const reason = attachable.length === 0 ? 'no client may attach' : 'no one is attached';
  return { kind: 'none' as const, canWrite: false, reason, loopbackOnly };
}

/** One entry of a transcript, in the window that a snapshot shows or before it. */
export function toEntry({ createdAtMs, updatedAtMs, ...entry }: TranscriptEntry) {
  return { ...entry, createdAt: toRfc3339(createdAtMs), updatedAt: toRfc3339(updatedAtMs) };
}

/**
 * A call that a killed process had started neither failed nor succeeded. None of the four statuses of a snapshot
 * expresses that, so it is reported as `failed` with `unknown:` in the summary.
 */
function toToolCall({ updatedAtMs, status, summary, ...call }: ToolCall) {
  const isUnknown = status === 'unknown';
  const told = isUnknown ? `unknown: ${summary ?? 'it was stopped before its end'}` : summary;
  return {
    ...call,
    status: isUnknown ? ('failed' as const) : status,
    ...(told === undefined ? {} : { summary: told }),
    updatedAt: toRfc3339(updatedAtMs),
  };
}

function toInteraction(question: Interaction, settings: SessionState['settings']) {
  const { requestedAtMs, resolvedAtMs, subject: _, ...interaction } = question;
  return {
    ...interaction,
    options: describedOptions(question, settings),
    requestedAt: toRfc3339(requestedAtMs),
    ...(resolvedAtMs === undefined ? {} : { resolvedAt: toRfc3339(resolvedAtMs) }),
  };
}

/** Characters of a description. */
const most = 400;

const refusals = { deny: 'the call is not made', abort: 'the call is not made, and the turn stops' };

/** Effects of options with labels that do not describe them completely. */
const said: Readonly<Partial<Record<InteractionKind, Readonly<Record<string, string>>>>> = {
  approval: refusals,
  sandbox_approval: refusals,
  intent_review_choice: {
    confirm: 'use this spec, and make a plan from it',
    modify: 'draft it again, with your note',
    cancel: 'end the turn; nothing is changed',
  },
  post_plan_choice: {
    execute: 'run the plan; a change that passes the checks is committed',
    modify: 'make another plan, with your note',
    cancel: 'end the turn; nothing is changed',
  },
};

/** Of a plan where changes are held. */
const executesHeld = 'run the plan; a change that passes the checks waits for your review';

const networks: Readonly<Record<string, string>> = {
  allow: 'commands of the run may use the network now: close it',
  deny: 'commands of the run may not use the network now: open it',
};

/** The effect of an option of this question, as text for a person. `undefined` if the label is complete. */
export function optionDescription(
  question: Question,
  option: string,
  { review }: Pick<SessionSettings, 'review'> = {},
): string | undefined {
  const described: unknown = describe(question, option, review === 'on');
  return typeof described === 'string' && described !== ''
    ? described.slice(0, most).toWellFormed()
    : undefined;
}

function describe(question: Question, option: string, isHeld: boolean): string | undefined {
  const { kind } = question;
  if (isApproval(question)) return question.metadata.reuse?.[option] ?? said[kind]?.[option];
  if (question.kind !== 'post_plan_choice') return said[kind]?.[option];
  if (option === 'network') return networks[question.metadata.networkAccess ?? 'deny'];
  return option === 'execute' && isHeld ? executesHeld : said[kind]?.[option];
}

/** The options of a question as clients get them. */
function describedOptions(question: Question, settings: Pick<SessionSettings, 'review'>) {
  return optionsFor(question).map(([id, label]) => {
    const description = optionDescription(question, id, settings);
    return { id, label, ...(description === undefined ? {} : { description }) };
  });
}

export const allCapabilities: SessionGround['capabilities'] = {
  messageInput: true,
  streamingText: true,
  planUpdates: true,
  toolCalls: true,
  patchsets: true,
  interactiveApprovals: true,
  structuredQuestions: true,
  providerSessionResume: true,
};
