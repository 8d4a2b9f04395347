/* Lists threads that can be resumed, and keeps the unsent text of the composer. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toEnvelope } from '../../api/envelope.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import {
  openPrivateDirectory,
  readPrivateFile,
  removeDrafts,
  writePrivateFile,
} from '../../http/private-files.ts';
import { toAgo } from '../../session/screen/words.ts';
import { listThreadsWithStates } from '../../session/thread/check-threads.ts';
import { threadDirectory } from '../../session/thread/open-thread.ts';
import type { Draft } from '../../session/tui/composer/composer.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** More than a person looks through. */
const mostListed = 200;

/** `writ code --resume` without a thread: lists the repository's threads and explains how to resume one. */
export async function listResumable(
  { print, json }: Pick<CommandContext, 'print' | 'json'>,
  { workingDir }: { readonly workingDir: string },
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<CommandResult> {
  const { threads, hasMore } = await listThreadsWithStates(await openRepository(workingDir), mostListed);
  const data = {
    threads: threads.map(({ id, title, currentIntentId, createdAt, updatedAt, state }) => ({
      id,
      ...(title === undefined ? {} : { title }),
      ...(currentIntentId === undefined ? {} : { current_intent_id: currentIntentId }),
      created_at: createdAt,
      updated_at: updatedAt,
      state,
    })),
    has_more: hasMore,
  };
  // The command prints its own JSON; the dispatcher adds none on success.
  if (json) print.raw(toEnvelope('code', { data }, true));
  return succeeded(data, (printer) => {
    if (threads.length === 0) {
      printer.line('no threads yet: `writ code` begins one');
      return;
    }
    const nowMs = clock.now();
    printer.table(
      threads.map(({ id, title = '(nothing was said)', updatedAt, state }) => [
        id,
        toAgo(Date.parse(updatedAt), nowMs),
        state,
        title,
      ]),
    );
    if (hasMore) printer.line(`only the last ${mostListed} are listed`);
    printer.line('`writ code --resume THREAD` resumes one that is closed');
  });
}

/** Keeps what somebody types and does not send beside its thread, for as long as this process has the thread. */
export interface DraftKeeper {
  /** The draft kept before, if any. */
  readonly draft: Draft | undefined;
  /** Schedules saving the draft that `of` returns. Callers do not wait for it. */
  keep(of: () => Draft): void;
  /** Resolves once the last of it is kept. */
  close(): Promise<void>;
}

interface KeeperParts {
  readonly clock: Clock;
  /** Masks secrets, as in sent messages. */
  readonly mask: (text: string) => string;
  /** Called once, on the first fault; from then on no draft is saved. */
  readonly report: (fault: unknown) => void;
}

/** So much is lost by a kill at most. */
const afterMs = 500;
/** Octets of the file: sixteen messages of the longest kind, and some. */
const maxBytes = 4 * 1024 * 1024 + 64 * 1024;

/**
 * Opens the draft file in a thread's directory. Only this user can read it, and it is replaced as a whole, never
 * through a link. An untrusted file (a link, another owner, a loose mode) is reported and left unchanged.
 */
export async function openDraftKeeper(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
  { clock, mask, report }: KeeperParts,
): Promise<DraftKeeper> {
  const over = new AbortController();
  let wanted: (() => Draft) | undefined;
  let written: string | undefined;
  let path: string | undefined;
  let writing = Promise.resolve();
  const failed = (fault: unknown): void => {
    path = undefined;
    report(fault);
  };
  const write = async (): Promise<void> => {
    if (path === undefined || wanted === undefined) return;
    const text = toText(masked(wanted(), mask));
    wanted = undefined;
    if (text === written) return;
    if (text === '') await rm(path, { force: true });
    else await writePrivateFile(path, text);
    written = text;
  };
  const writeSoon = (): void => {
    writing = writing
      .then(() => clock.sleep(afterMs, over.signal))
      .catch(() => {})
      .then(write)
      .catch(failed);
  };
  let draft: Draft | undefined;
  try {
    const directory = await openPrivateDirectory(threadDirectory(repository, threadId), ['typed']);
    await removeDrafts(directory);
    path = join(directory, 'draft.json');
    written = (await readPrivateFile(path, maxBytes)) ?? '';
    draft = written === '' ? undefined : readDraft(path, written);
  } catch (fault) {
    failed(fault);
  }
  return {
    draft,
    keep(of) {
      const isWaiting = wanted !== undefined;
      wanted = of;
      if (!isWaiting) writeSoon();
    },
    async close() {
      over.abort();
      await writing;
    },
  };
}

function masked({ unsent, typed }: Draft, mask: KeeperParts['mask']): Draft {
  return { unsent: unsent.map(mask), typed: typed.map(mask) };
}

/** Returns an empty string if there is nothing to keep. At the size limit, the oldest typed texts are dropped first. */
function toText({ unsent, typed }: Draft): string {
  let left = maxBytes - 1024;
  const fits = (text: string): boolean => {
    left -= Buffer.byteLength(JSON.stringify(text)) + 1;
    return left >= 0;
  };
  const kept = { unsent: unsent.filter(fits), typed: typed.toReversed().filter(fits).reverse() };
  return kept.unsent.length + kept.typed.length === 0 ? '' : JSON.stringify(kept);
}

/** PRIVATE_FILE_UNSAFE if the file is not a draft: another program wrote it. */
function readDraft(path: string, text: string): Draft {
  const value = parsed(text);
  const [unsent, typed] = [textsOf(value?.unsent), textsOf(value?.typed)];
  if (unsent !== undefined && typed !== undefined) return { unsent, typed };
  const reason = 'it does not hold what was typed';
  throw new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: ['look at what it is, then remove it'],
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
}
