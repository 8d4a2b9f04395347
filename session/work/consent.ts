/* Approvals and questions of the runs of a turn, and of MCP clients, to the controller of a session. */
import { realpath } from 'node:fs/promises';
import { compact } from '../../api/envelope.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { LookAtChange, Person, ToolRequest } from '../../core/interfaces/hook-payload.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { refusal } from '../../workspace/command-acl/constraints.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { describeApproval } from '../approvals/describe-approval.ts';
import { type GrantLedger, grantFrom } from '../approvals/grants.ts';
import { decideApproval } from '../approvals/judge-approval.ts';
import { type SandboxPolicy, sandboxDigest, type ToolUse } from '../approvals/tool-use.ts';
import type { EffectContext, SessionChannel } from '../open-channel.ts';
import type { Want } from '../state/command.ts';
import { modelSubject } from '../state/questions.ts';
import { isBusy, type SessionState } from '../state/state.ts';
import {
  type Answered,
  type ApprovalSetting,
  openWaiters,
  type TurnScope,
  type WorkSetting,
} from './turn-scope.ts';

/** Where the tools of one run work, as an approval is bound to it. */
export interface ConsentGround extends Pick<ToolUse, 'cwd' | 'sandbox' | 'branch' | 'argv'> {
  /** Name of the sandbox back end that confines commands. Absent if none does. */
  readonly backend?: string;
  /** What the sandbox kept a command of the same text from, when it was tried before. */
  readonly heldBack: (command: string) => string | undefined;
  /** The user runs the command: the policy can refuse it, but there is no question. */
  readonly isOwnWord?: boolean;
}

type Consented = 'go' | 'abort' | { readonly refused: string };

/** Authorizes one call by policy and earlier answers, or prompts. The answer is kept for later calls. */
async function authorizeCall(
  {
    setting: { approval },
    ask,
    newId,
  }: Pick<TurnScope, 'ask' | 'newId'> & { readonly setting: Pick<WorkSetting, 'approval'> },
  request: ToolRequest,
  { backend, heldBack, isOwnWord = false, ...ground }: ConsentGround,
  lookAtChange?: LookAtChange,
): Promise<Consented> {
  const { policy, ttlSeconds, grants, mask } = approval;
  const use: ToolUse = { id: newId(), request, ...ground, isOutside: false };
  const held = request.command === undefined ? undefined : heldBack(request.command);
  const verdict = decideApproval(policy, use, {
    ...compact({ sandbox: backend, heldBack: held }),
    // The network of a run is what a person chose at the review of its plan.
    leavesMachine: false,
  });
  if (verdict.verdict === 'go') return 'go';
  if (verdict.verdict === 'refuse') return { refused: verdict.why };
  if (isOwnWord) return 'go';
  const before = verdict.isFresh ? undefined : grants.take(use);
  if (before !== undefined)
    return before.verdict === 'go' ? 'go' : { refused: 'the person declined every call like it' };
  const change = await lookAtChange?.();
  const question = describeApproval(use, {
    why: verdict.why,
    isOfSandbox: verdict.isOfSandbox,
    isUnconfined: request.command !== undefined && backend === undefined,
    policy,
    ttlSeconds,
    mask,
    ...(change === undefined ? {} : { change }),
  });
  const answered = await ask({ subject: `consent ${use.id}`, ...question });
  const { option, given, by } = answered;
  const { applyToFuture = 'no' } = given;
  grants.add(
    grantFrom({ option, ...(applyToFuture === 'no' ? {} : { applyToFuture }) }, use, {
      now: grants.now(),
      ttlSeconds,
      by,
      newId,
      mask,
    }),
  );
  return consented(answered, use, grants);
}

function consented({ option }: Answered, use: ToolUse, grants: GrantLedger): Consented {
  if (option === 'abort') return 'abort';
  // No answer but a consent grants anything, and what it grants has to cover this very call.
  if (grants.take(use)?.verdict === 'go') return 'go';
  return { refused: 'the person did not approve it' };
}

/** Network access of a run's commands: every public host, or the hosts that rules of its spec name. */
interface OpenedNetwork extends Pick<SandboxPolicy, 'hosts'> {
  readonly networkAccess: 'allow' | 'deny';
}

/**
 * What approvals of a run's calls are bound to. Each attempt has its own directory; approvals use the repository's
 * root, which the user knows.
 */
export async function consentGround(
  { engine, repositoryPath, sandbox }: WorkSetting,
  { networkAccess, hosts }: OpenedNetwork,
  heldBack: ConsentGround['heldBack'],
): Promise<ConsentGround> {
  const repository = await openRepository(repositoryPath, { onlyReads: true });
  const cwd = await realpath(repository.root);
  const { branch, commit } = await readHead(repository);
  const backend = await pickSandbox(sandbox, engine.slots.sandbox);
  return {
    cwd,
    branch: branch ?? commit ?? 'HEAD',
    sandbox: sandboxDigest({ backend: backend.name, network: networkAccess, hosts, writes: [cwd] }),
    ...(backend.unconfined ? {} : { backend: backend.name }),
    heldBack,
  };
}

export const noNetwork: OpenedNetwork = { networkAccess: 'deny', hosts: [] };

/** Network access that a spec opens to commands. None if the spec is unreadable. */
export function openedNetwork(specBytes: Uint8Array): OpenedNetwork {
  const read = readIntentSpec(specBytes);
  if (!read.ok) return noNetwork;
  const { constraints, security } = read.effective;
  return {
    networkAccess: constraints.security.networkPolicy === 'allow' ? 'allow' : 'deny',
    hosts: security.toolAcl.allow.flatMap((rule) => hostsIn(rule.constraints.networkHosts)),
  };
}

function hostsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Lets the runs of a turn prompt the controller of the session. */
export function personOf(scope: TurnScope, ground: ConsentGround): Person {
  const { ask, newId, stop } = scope;
  return {
    async consent(use, signal, change) {
      signal.throwIfAborted();
      const said = await authorizeCall(scope, use, ground, change);
      if (said === 'go') return undefined;
      if (said !== 'abort') return refusal(said.refused, { reason: 'not-approved' });
      stop();
      throw signal.reason;
    },
    async answer({ question, options, isSecret }) {
      const kind = options.length === 0 ? ('text' as const) : ('single' as const);
      const listed = options.map((label, at) => ({ id: `${at + 1}`, label }));
      const secret = isSecret === true ? { secret: true } : {};
      const asked = { id: 'answer', prompt: question, kind, options: listed, ...secret };
      const { given } = await ask({
        subject: `${modelSubject}${newId()}`,
        kind: 'request_user_input',
        prompt: question,
        metadata: { questions: [asked] },
      });
      const [said] = given.answers?.answer ?? [];
      // Masked before the next reply of a model could repeat it.
      if (isSecret && said !== undefined) scope.setting.hide?.(said);
      return listed.find(({ id }) => id === said)?.label ?? said;
    },
  };
}

/** Questions of MCP clients; each runs in its own turn. */
interface Visits {
  /** Whether an answer belongs to a visit; if its waiter is gone, the turn ends. */
  take(want: Want, session: EffectContext): Promise<boolean>;
  /**
   * Runs `act` in a turn. `nobody`: there is no controller, or the session is busy. `refused`: the turn was
   * cancelled, or the controller has left.
   */
  visit<T>(
    channel: SessionChannel,
    act: (ask: TurnScope['ask']) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | 'nobody' | 'refused'>;
}

const visitSubject = 'visit ';

export function openVisits(): Visits {
  const waiters = openWaiters();
  return {
    async take(want, { state, send }) {
      if (want.type !== 'answer' || !want.subject.startsWith(visitSubject)) return false;
      const { subject, option, given, by } = want;
      const { turn } = state();
      if (!waiters.answer(subject, { option, given, by }) && turn !== undefined)
        await send({ type: 'end', turn, end: 'cancelled' });
      return true;
    },
    async visit(channel, act, signal) {
      signal.throwIfAborted();
      if (isBusy(channel.state) || !hasController(channel.state)) return 'nobody';
      const turn = await beginVisit(channel);
      if (turn === undefined) return 'nobody';
      const gone = new AbortController();
      const unsubscribe = channel.subscribe((state) => {
        if (state.turn !== turn || !hasController(state)) gone.abort();
      });
      const ended = AbortSignal.any([signal, gone.signal, channel.closed]);
      try {
        return await act(async (question) => {
          const subject = `${visitSubject}${question.subject}`;
          const answered = waiters.wait(subject, ended);
          answered.catch(() => undefined);
          await channel.send({ type: 'ask', turn, ...question, subject });
          return answered;
        });
      } catch (fault) {
        signal.throwIfAborted();
        if (gone.signal.aborted) return 'refused';
        throw fault;
      } finally {
        unsubscribe();
        if (channel.state.turn === turn && !channel.closed.aborted)
          await channel.send({ type: 'end', turn, end: 'done' });
      }
    },
  };
}

/** `undefined` if another turn began first. */
async function beginVisit(channel: SessionChannel): Promise<string | undefined> {
  try {
    return (await channel.send({ type: 'visit' })).turn;
  } catch (fault) {
    if (isWritError(fault, 'CONTROLLER_CONFLICT')) return undefined;
    throw fault;
  }
}

function hasController({ lease, ground }: SessionState): boolean {
  return lease !== undefined || ground.local !== 'none';
}

/** What a client of another kind wants to do with version control. */
export interface VisitorUse {
  /** Its words, none left out. */
  readonly argv: readonly string[];
  /** What it would do, for a person. */
  readonly lines: readonly string[];
}

interface VisitedSession {
  readonly channel: SessionChannel;
  readonly visits: Visits;
  readonly repository: Repository;
  readonly approval: ApprovalSetting;
  readonly newId: () => string;
}

/**
 * Prompts the controller about a call of an MCP client, with the policy, grants and answers of the session's own
 * runs.
 */
export async function allowVisitor(
  { channel, visits, repository, approval, newId }: VisitedSession,
  { argv, lines }: VisitorUse,
  signal: AbortSignal,
): Promise<'approved' | 'denied' | 'nobody'> {
  const cwd = await realpath(repository.root);
  const { branch, commit } = await readHead(repository);
  const ground = {
    argv,
    cwd,
    branch: branch ?? commit ?? 'HEAD',
    sandbox: sandboxDigest({ backend: 'none', network: 'deny', hosts: [], writes: [cwd] }),
    heldBack: () => undefined,
  };
  const request = { runId: 'mcp', tool: 'vcs', action: 'write', paths: ['.'] };
  const told = await visits.visit(
    channel,
    (ask) =>
      authorizeCall(
        {
          setting: { approval },
          newId,
          ask: ({ description = '', ...question }) =>
            ask({ ...question, description: [description, ...lines].join('\n') }),
        },
        request,
        ground,
      ),
    signal,
  );
  if (told === 'go') return 'approved';
  return told === 'nobody' ? 'nobody' : 'denied';
}
