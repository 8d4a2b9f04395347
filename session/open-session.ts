import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../core/base/files.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { requireHoldable } from '../engine/seal/move-target.ts';
import type { JournalWitness } from '../store/journal-witness.ts';
import { isRun } from '../store/record/find-run.ts';
import { journalFile, requireOwnPlace } from '../store/run-directory.ts';
import { workspaceFingerprint } from '../workspace/git/dirty-paths.ts';
import { removeTree } from '../workspace/git/remove-tree.ts';
import { openRepository } from '../workspace/git/repository.ts';
import type { GrantLedger } from './approvals/keep-grants.ts';
import { keepAudit } from './audit/keep-audit.ts';
import { openAudit } from './audit/open-audit.ts';
import { openChannel, type SessionChannel } from './channel/open-channel.ts';
import { requireApart } from './self-test/try-to-approve.ts';
import { afterKill } from './state/after-kill.ts';
import type { Fact, Happened, SessionGround } from './state/fact.ts';
import { openedState, reduce } from './state/reduce.ts';
import { restoredState } from './state/restored-state.ts';
import type { SessionState } from './state/state.ts';
import { budgetUnpriced } from './state/usage.ts';
import { type OpenThread, openThread, threadDirectory } from './thread/open-thread.ts';
import { openThreadTranscript, type ThreadTranscript } from './thread/open-transcript.ts';
import { threadNotFound } from './thread/thread-not-found.ts';
import { allowVisitor, type VisitorUse } from './work/allow-visitor.ts';
import { openVisits } from './work/open-visits.ts';
import { openWork } from './work/open-work.ts';
import { shellPlace, sweepCopies } from './work/shell/sweep-copies.ts';
import type { RunWatcher } from './work/watch-runs.ts';
import type { OpenWorkSetting } from './work/work-setting.ts';

/** What a session is opened with: what its turns work with, and what clients are told of it. */
export interface SessionSetting extends OpenWorkSetting {
  /** Its plugin stands in the engine. */
  readonly watcher: RunWatcher;
  readonly ground: Omit<SessionGround, 'sessionId' | 'threadId'>;
  /** A thread that is gone on with; absent: a new one. THREAD_NOT_FOUND. */
  readonly resume?: string;
  readonly witness: JournalWitness;
}

/** A session that is served: one channel, one thread. */
export interface OpenSession extends AsyncDisposable {
  readonly channel: SessionChannel;
  readonly threadId: string;
  /** Its transcript, what came before the window of the snapshots included. */
  readonly transcript: ThreadTranscript;
  /** What is pre-approved in it. */
  readonly grants: GrantLedger;
  /** Asks whoever controls it about a call of a client of another kind. */
  readonly allow: (use: VisitorUse, signal: AbortSignal) => Promise<'approved' | 'denied' | 'nobody'>;
}

/**
 * Opens a session. Its thread is on disk before anybody hears of it, and who writes stands in its audit log; one that
 * is resumed is as it was acknowledged, and what its killed process had begun is `unknown`. THREAD_NOT_FOUND,
 * THREAD_BUSY, THREAD_UNPROVEN, JOURNAL_CORRUPT, SESSION_BUDGET_UNPRICED where a limit cannot be held.
 */
export async function openSession(setting: SessionSetting): Promise<OpenSession> {
  const { clock, witness, resume, repositoryPath, watcher } = setting;
  const { limitUsd, isPriced, provider } = setting.ground;
  if (limitUsd !== undefined && isPriced === false)
    throw budgetUnpriced(provider.model ?? provider.provider, limitUsd);
  const newId = (): string => uuidV7(clock.now());
  const threadId = resume ?? newId();
  const repository = await openRepository(repositoryPath);
  const directory = threadDirectory(repository, threadId);
  // Looked for first: opening one begins it.
  if (resume !== undefined && !(await isThread(directory))) {
    const isOfRun = await isRun(setting.engine.slots.store, repository, clock, resume);
    throw threadNotFound(resume, { isRun: isOfRun });
  }
  const thread = await openThread(directory, threadId, { clock, witness });
  const opened = new AsyncDisposableStack();
  opened.use(thread);
  try {
    const log = opened.use(await openAudit(directory, threadId, { clock, witness }));
    const state = await openState(
      thread,
      { ...setting.ground, sessionId: newId(), threadId },
      setting,
      newId,
    );
    const place = join(directory, shellPlace);
    // A killed process could not take its copy of the work tree away.
    await removeTree(place);
    // Other killed ones may never be gone on with; much may be left, and nobody waits for it but the end.
    const swept = sweepCopies(repository, threadId);
    opened.defer(() => swept);
    const work = openWork(setting, watcher, place);
    const visits = openVisits();
    const channel = opened.use(
      openChannel({
        state,
        thread,
        audit: keepAudit(log, clock),
        clock,
        newId,
        perform: async (want, world) => {
          if (!(await visits.take(want, world))) await work.perform(want, world);
        },
        mask: setting.approval.mask,
        fingerprint: () => workspaceFingerprint(repository),
        requireApart: async () => requireApart('allow', await setting.selfTest.result()),
        requireHoldable: () => requireHoldable(repository),
      }),
    );
    // Ended first: what it still reports is taken.
    opened.use(work);
    const { approval } = setting;
    const visited = { channel, visits, repository, approval, newId };
    return {
      channel,
      threadId,
      transcript: openThreadTranscript({ directory, threadId, witness }),
      grants: approval.grants,
      allow: (use, signal) => allowVisitor(visited, use, signal),
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (fault) {
    await opened.disposeAsync();
    throw fault;
  }
}

/** The state that the facts of a thread add up to, with what this process adds to them. */
async function openState(
  thread: OpenThread,
  ground: SessionGround,
  { resume, clock }: Pick<SessionSetting, 'resume' | 'clock'>,
  newId: () => string,
): Promise<SessionState> {
  const atMs = clock.now();
  if (thread.facts.length === 0) {
    if (resume !== undefined) throw threadNotFound(resume);
    const opened = { type: 'opened', ground, atMs } as const;
    await thread.append([opened]);
    return openedState(opened);
  }
  const before = restoredState(thread.facts);
  const facts: Fact[] = [{ type: 'resumed', ground }, ...afterKill(before, { nowMs: atMs, newId })];
  const happened = facts.map((fact): Happened => ({ ...fact, atMs }));
  await thread.append(happened);
  return happened.reduce(reduce, before);
}

async function isThread(directory: string): Promise<boolean> {
  await requireOwnPlace(directory, [journalFile]);
  const found = await lstat(join(directory, journalFile)).catch(absent);
  return found !== undefined;
}
