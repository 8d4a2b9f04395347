/* The `writ threads` commands: lists, chooses, archives, exports and deletes the threads of sessions. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toEnvelope } from '../../api/envelope.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { toAgo } from '../../session/screen/words.ts';
import { restoredState } from '../../session/state/restored-state.ts';
import { toSnapshot } from '../../session/state/snapshot.ts';
import {
  archiveThread,
  type ListedThread,
  listThreadsWithStates,
} from '../../session/thread/check-threads.ts';
import { threadDirectory, threadNotFound } from '../../session/thread/open-thread.ts';
import { readThread } from '../../session/thread/read-thread.ts';
import { transcriptText } from '../../session/tui/show/earlier.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { parseWhole, writeOutput } from '../command-parts/write-output.ts';
import { openLines } from '../terminal/open-output.ts';

/** More than a person looks through. */
const mostListed = 200;
/** Threads that are looked through to delete by age. */
const mostDeleted = 100_000;
const dayMs = 24 * 60 * 60 * 1000;

/** `writ threads`: the threads of this repository, newest first, without those that are archived. */
export async function threadsCommand({
  options,
  cwd,
  repoPath,
}: Pick<CommandContext, 'options' | 'cwd' | 'repoPath'>): Promise<CommandResult> {
  const words = options.value('search');
  const found = await listThreadsWithStates(await openRepository(repoPath ?? cwd), mostListed, {
    archived: options.flag('archived'),
    ...(words === undefined ? {} : { matches: hasWords(words) }),
  });
  return listed(found, systemClock, words);
}

function listed(
  { threads, hasMore }: Awaited<ReturnType<typeof listThreadsWithStates>>,
  clock: Pick<Clock, 'now'>,
  words?: string,
): CommandResult & { readonly exitCode: 0 } {
  const data = {
    threads: threads.map(({ id, title, currentIntentId, createdAt, updatedAt, state, archived }) => ({
      id,
      ...(title === undefined ? {} : { title }),
      ...(currentIntentId === undefined ? {} : { current_intent_id: currentIntentId }),
      created_at: createdAt,
      updated_at: updatedAt,
      state,
      ...(archived ? { archived } : {}),
    })),
    has_more: hasMore,
  };
  return {
    exitCode: 0,
    data,
    human(printer) {
      if (threads.length === 0)
        return printer.line(
          words === undefined ? 'no threads yet: `writ code` begins one' : 'no thread matches',
        );
      printer.table(threads.map((thread) => rowOf(thread, clock.now())));
      if (hasMore) printer.line(`only the last ${mostListed} are listed`);
      printer.line('`writ code --resume THREAD` resumes one that is closed');
    },
  };
}

/** Whether an id or title has these words, in whatever case. */
function hasWords(words: string): (thread: Pick<ListedThread, 'id' | 'title'>) => boolean {
  const wanted = words.toLowerCase();
  return ({ id, title = '' }) => `${id} ${title}`.toLowerCase().includes(wanted);
}

function rowOf({ id, title = '(nothing was said)', updatedAt, state }: ListedThread, nowMs: number) {
  return [id, toAgo(Date.parse(updatedAt), nowMs), state, title];
}

/** `writ code --resume` without a thread, where no one can choose: lists the threads. */
export async function listResumable(
  { print, json }: Pick<CommandContext, 'print' | 'json'>,
  { workingDir }: { readonly workingDir: string },
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<CommandResult> {
  const result = listed(await listThreadsWithStates(await openRepository(workingDir), mostListed), clock);
  // The command prints its own JSON; the dispatcher adds none on success.
  if (json) print.raw(toEnvelope('code', { data: result.data ?? {} }, true));
  return result;
}

/** Threads that a person chooses from at once. */
const mostChoices = 20;

/**
 * Has a person choose a thread: its number, or words of its title that narrow the list. `undefined`: an empty line, or
 * the end of the input.
 */
export async function chooseThread(
  { print, stdin, signal }: Pick<CommandContext, 'print' | 'stdin' | 'signal'>,
  { workingDir }: { readonly workingDir: string },
): Promise<string | undefined> {
  const { threads } = await listThreadsWithStates(await openRepository(workingDir), mostListed);
  const closed = threads.filter(({ state }) => state === 'closed');
  if (closed.length === 0) {
    print.line('no thread can be resumed: `writ code` begins one');
    return undefined;
  }
  using lines = openLines(stdin, signal);
  let shown = closed;
  for (;;) {
    const nowMs = systemClock.now();
    print.table(
      shown.slice(0, mostChoices).map((thread, at) => {
        const [, ago = '', , title = ''] = rowOf(thread, nowMs);
        return [`${at + 1}`, ago, title];
      }),
    );
    print.line('number, or words to search for; Enter leaves');
    const typed = (await lines.next())?.trim() ?? '';
    if (typed === '') return undefined;
    const chosen = /^\d{1,3}$/.test(typed) ? shown[Number(typed) - 1] : undefined;
    if (chosen !== undefined) return chosen.id;
    const found = closed.filter(hasWords(typed));
    if (found.length === 1) return found[0]?.id;
    if (found.length === 0) print.line('no thread has these words');
    shown = found.length === 0 ? closed : found;
  }
}

/** The thread that was used last and is closed. THREAD_NOT_FOUND if there is none. */
export async function lastThread({ workingDir }: { readonly workingDir: string }): Promise<string> {
  const { threads } = await listThreadsWithStates(await openRepository(workingDir), mostListed);
  const last = threads.find(({ state, title }) => state === 'closed' && title !== undefined);
  if (last !== undefined) return last.id;
  throw new WritError('THREAD_NOT_FOUND', {
    message: 'this repository has no thread (stored session) to continue',
    hints: ['start one with `writ code`; `writ threads list` shows those that are open elsewhere'],
  });
}

/** `writ threads archive THREAD`: it is no longer listed; `--undo` lists it again. */
export async function archiveCommand({
  args: [word = ''],
  options,
  cwd,
  repoPath,
}: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const id = await findOne(repository, word);
  const archived = !options.flag('undo');
  await archiveThread(repository, id, archived);
  return succeeded({ id, archived }, (printer) =>
    printer.line(
      archived ? `archived ${id}: \`writ threads list --archived\` shows it` : `${id} is listed again`,
    ),
  );
}

/** `writ threads export THREAD`: the whole thread as Markdown, without secrets. */
export async function exportCommand({
  args: [word = ''],
  options,
  cwd,
  env,
  repoPath,
}: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const id = await findOne(repository, word);
  const read = await readThread(threadDirectory(repository, id), id, userJournalWitness(env));
  if (read.proven === undefined) throw new WritError('THREAD_UNPROVEN', { detail: { thread_id: id } });
  // All entries, and not only the last ones that a snapshot shows.
  const transcript: Parameters<NonNullable<Parameters<typeof restoredState>[1]>>[0][] = [];
  const state = restoredState(read.proven.facts, (entry) => void transcript.push(entry));
  const snapshot = toSnapshot({ ...state, transcript: [...transcript, ...state.transcript] });
  const text = transcriptText({ ...snapshot, threadId: id });
  const file = options.value('output');
  if (file === undefined) return succeeded({ id, markdown: text }, (printer) => printer.text(text));
  const path = await writeOutput(cwd, file, text);
  return succeeded({ id, path }, (printer) => printer.line(`written: ${path}`));
}

/**
 * `writ threads delete THREAD`, or `--older-than DAYS`: removes closed threads with their attachments. Commits, runs
 * and their records stay. A thread that a process has is never removed.
 */
export async function deleteCommand({
  args: [word],
  options,
  cwd,
  repoPath,
}: CommandContext): Promise<CommandResult> {
  const days = options.value('older-than');
  if ((word === undefined) === (days === undefined))
    throw new WritError('USAGE', {
      message: 'pass either THREAD or `--older-than DAYS`',
      detail: { command: 'threads delete', expected: ['THREAD', '--older-than'], found: word ?? null },
    });
  const repository = await openRepository(repoPath ?? cwd);
  const ids =
    word === undefined
      ? await olderThan(repository, parseWhole(days ?? '', '--older-than', 36_500))
      : [await findOne(repository, word)];
  const deleted: string[] = [];
  const kept: string[] = [];
  for (const id of ids)
    (await deleteThread(repository, id, word === undefined)) ? deleted.push(id) : kept.push(id);
  return succeeded({ deleted, kept }, (printer) => {
    printer.line(`${deleted.length} ${deleted.length === 1 ? 'thread' : 'threads'} deleted`);
    for (const id of kept) printer.line(`kept, in use: ${id}`);
  });
}

async function olderThan(repository: Repository, days: number): Promise<readonly string[]> {
  const since = systemClock.now() - days * dayMs;
  const { threads } = await listThreadsWithStates(repository, mostDeleted, { archived: 'any' });
  return threads.flatMap(({ id, updatedAt }) => (Date.parse(updatedAt) < since ? [id] : []));
}

async function deleteThread(repository: Repository, id: string, isSkipped: boolean): Promise<boolean> {
  const directory = threadDirectory(repository, id);
  const busy = () => new WritError('THREAD_BUSY', { detail: { thread_id: id } });
  const lock = await acquireProcessLock(join(directory, 'lock'), { busy }).catch((fault: unknown) => {
    if (isSkipped && fault instanceof WritError && fault.code === 'THREAD_BUSY') return undefined;
    throw fault;
  });
  if (lock === undefined) return false;
  try {
    await removeTree(directory);
  } finally {
    await lock.release();
    // The lock is in the directory.
    await rm(directory, { recursive: true, force: true });
  }
  return true;
}

/** A thread by its id or the beginning of it. THREAD_NOT_FOUND for none, and for several. */
async function findOne(repository: Repository, word: string): Promise<string> {
  const { threads } = await listThreadsWithStates(repository, mostDeleted, { archived: 'any' });
  const found = threads.filter(({ id }) => id === word || (word.length >= 8 && id.startsWith(word)));
  const [one] = found;
  if (one === undefined || found.length > 1) throw threadNotFound(word);
  return one.id;
}
