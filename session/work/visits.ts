/** Questions of MCP clients to the controller of a session. */
import { realpath } from 'node:fs/promises';
import { isWritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { sandboxDigest } from '../approvals/tool-use.ts';
import type { EffectContext, SessionChannel } from '../open-channel.ts';
import type { Want } from '../state/command.ts';
import { isBusy, type SessionState } from '../state/state.ts';
import { authorizeCall } from './consent.ts';
import { type ApprovalSetting, openWaiters, type TurnScope } from './turn-scope.ts';

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
