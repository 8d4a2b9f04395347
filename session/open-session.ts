/** Opens or resumes a session: thread, audit log, state, effects and channel. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../core/base/files.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { expandCommand, findFileCommands } from '../engine/context/file-commands.ts';
import { requireHoldable } from '../engine/seal/move-target.ts';
import type { JournalWitness } from '../store/journal-witness.ts';
import { isRun } from '../store/record/list-records.ts';
import { journalFile, requireOwnPlace } from '../store/run-directory.ts';
import { workspaceFingerprint } from '../workspace/git/dirty-paths.ts';
import { openRepository, type Repository } from '../workspace/git/repository.ts';
import { removeTree } from '../workspace/git/torn-paths.ts';
import type { GrantLedger } from './approvals/grants.ts';
import { keepAudit, openAudit } from './audit/keep-audit.ts';
import { type HookSetting, openHooks, wordsToModel } from './hooks.ts';
import { openChannel, type SessionChannel } from './open-channel.ts';
import { requireApart } from './self-test.ts';
import type { Fact, Happened, SessionGround } from './state/fact.ts';
import { stoppedAsked } from './state/questions.ts';
import { openedState, reduce } from './state/reduce.ts';
import {
  afterKill,
  openTranscriptArchive,
  restoredState,
  type TranscriptArchive,
  unsettledRun,
} from './state/restored-state.ts';
import { slashCommands } from './state/slash-words.ts';
import { pendingOf, type SessionState } from './state/state.ts';
import { budgetUnpriced } from './state/usage.ts';
import {
  attachTo,
  openUploads,
  type SaidWithText,
  type Uploads,
  withImagePaths,
} from './thread/attachments.ts';
import { type OpenThread, openThread, threadDirectory, threadNotFound } from './thread/open-thread.ts';
import { allowVisitor, openVisits, type VisitorUse } from './work/consent.ts';
import { openWork } from './work/open-work.ts';
import { findRunOf } from './work/run-outcome.ts';
import { shellPlace, sweepCopies } from './work/shell-step.ts';
import type { OpenWorkSetting } from './work/turn-scope.ts';
import type { RunWatcher } from './work/watch-runs.ts';

export interface SessionSetting extends OpenWorkSetting {
  /** Its plugin is loaded in the engine. */
  readonly watcher: RunWatcher;
  readonly ground: Omit<SessionGround, 'sessionId' | 'threadId'>;
  /** A thread that is gone on with; absent: a new one. THREAD_NOT_FOUND. */
  readonly resume?: string;
  readonly witness: JournalWitness;
  /** Throws if the policy does not allow the model. */
  readonly requireModel?: (model: string) => void;
  /** Absent: none. */
  readonly hooks?: HookSetting;
}

/** A session that is served: one channel, one thread. */
export interface OpenSession extends AsyncDisposable {
  readonly channel: SessionChannel;
  readonly threadId: string;
  /** The entries that came before the window of the snapshots. */
  readonly transcript: Pick<TranscriptArchive, 'page'>;
  /** What is pre-approved in it. */
  readonly grants: GrantLedger;
  /** Files that clients upload for their next message. */
  readonly uploads: Uploads;
  /** Records how a last run ended that another process went on with; its end was not known here. */
  readonly catchUp: () => Promise<void>;
  /** Requests the controller's approval for a call of an MCP client. */
  readonly allow: (use: VisitorUse, signal: AbortSignal) => Promise<'approved' | 'denied' | 'nobody'>;
}

/**
 * Opens a session with its thread and audit log on disk. A resumed session has the state that was acknowledged;
 * running tools of its killed process are `unknown`. THREAD_NOT_FOUND, THREAD_BUSY, THREAD_UNPROVEN, JOURNAL_CORRUPT,
 * SESSION_BUDGET_UNPRICED if a limit cannot be enforced.
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
    const archive = openTranscriptArchive();
    const ground = { ...setting.ground, sessionId: newId(), threadId };
    const state = await openState(thread, archive, ground, setting, newId);
    const place = join(directory, shellPlace);
    // A killed process may have left its copy of the working tree.
    await removeTree(place);
    // Copies of other killed sessions are removed in the background.
    const swept = sweepCopies(repository, threadId);
    opened.defer(() => swept);
    const hooks =
      setting.hooks &&
      opened.use(openHooks(setting.hooks, threadId, { ...setting, mask: setting.approval.mask }));
    watcher.guard(hooks);
    const work = openWork(setting, watcher, place, hooks);
    const visits = openVisits();
    const uploads = openUploads();
    const channel = opened.use(
      openChannel({
        state,
        thread,
        audit: keepAudit(log, clock),
        clock,
        newId,
        perform: async (want, session) => {
          if (!(await visits.take(want, session))) await work.perform(want, session);
        },
        mask: setting.approval.mask,
        attach: async (said) => {
          const typed = await withImagePaths(said.text);
          const whole = await expanded({ ...said, text: typed, typed }, repository, setting);
          return attachTo({ directory, repository, uploads }, whole);
        },
        fingerprint: () => workspaceFingerprint(repository),
        requireApart: async () => requireApart('allow', await setting.selfTest.result()),
        requireHoldable: () => requireHoldable(repository),
        ...(hooks === undefined
          ? {}
          : {
              admit: async (wants, now) => {
                const text = wordsToModel(wants, now);
                const fault = text === '' ? undefined : await hooks.message(text);
                if (fault !== undefined) throw fault;
              },
            }),
        ...(setting.requireModel === undefined ? {} : { requireModel: setting.requireModel }),
      }),
    );
    let shown = state;
    channel.subscribe((now, facts) => {
      archive.follow(shown, now, facts);
      shown = now;
    });
    // Effects end first, so that their last reports are still accepted.
    opened.use(work);
    const catchUp = async (isOpening: boolean): Promise<void> => {
      const runId = unsettledRun(channel.state);
      if (runId === undefined) return;
      const found = await findRunOf({ setting }, runId).catch((fault: unknown) => ({ fault }));
      const now = found === undefined || 'fault' in found ? undefined : found.view.state;
      const isKnown = now === 'waiting' && channel.state.outcome?.runId === runId;
      const isOpen = isOpening && !isKnown && stoppedAsked(channel.state) === undefined;
      if (now !== 'decided' && !isOpen) return;
      await channel.send({ type: 'catch-up' });
      await untilQuiet(channel);
    };
    await catchUp(true);
    const { approval } = setting;
    const visited = { channel, visits, repository, approval, newId };
    return {
      channel,
      threadId,
      transcript: archive,
      grants: approval.grants,
      uploads,
      catchUp: () => catchUp(false),
      allow: (use, signal) => allowVisitor(visited, use, signal),
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (fault) {
    await opened.disposeAsync();
    throw fault;
  }
}

/** Resolves when no turn runs, or a question waits. */
function untilQuiet(channel: SessionChannel): Promise<void> {
  return new Promise((resolve) => {
    const look = (state: SessionState): void => {
      if (state.turn !== undefined && pendingOf(state).length === 0) return;
      stop();
      resolve();
    };
    const stop = channel.subscribe(look);
    look(channel.state);
  });
}

/** The state that the facts of a thread add up to, with what this process adds to them. */
async function openState(
  thread: OpenThread,
  archive: TranscriptArchive,
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
  const before = restoredState(thread.facts, archive.add);
  const facts: Fact[] = [{ type: 'resumed', ground }, ...afterKill(before, { nowMs: atMs, newId })];
  const happened = facts.map((fact): Happened => ({ ...fact, atMs }));
  await thread.append(happened);
  const after = happened.reduce(reduce, before);
  archive.follow(before, after, happened);
  return after;
}

/** A message that names a command of a file becomes its words; commands of writ come first. */
async function expanded(
  said: SaidWithText,
  repository: Repository,
  { run: { userDirectory } }: Pick<SessionSetting, 'run'>,
): Promise<SaidWithText> {
  const [, name] = /^\s*\/([a-z0-9-]+)(?:\s|$)/.exec(said.text) ?? [];
  if (name === undefined || slashCommands.some((one) => one.name === name)) return said;
  const text = expandCommand(said.text, await findFileCommands(repository, userDirectory));
  return text === undefined ? said : { ...said, text };
}

async function isThread(directory: string): Promise<boolean> {
  await requireOwnPlace(directory, [journalFile]);
  const found = await lstat(join(directory, journalFile)).catch(absent);
  return found !== undefined;
}
