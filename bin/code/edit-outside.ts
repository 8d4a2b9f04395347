/* What a person types outside the composer: in an editor, and kept with its thread. */
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import {
  openPrivateDirectory,
  readPrivateFile,
  removeDrafts,
  writePrivateFile,
} from '../../http/private-files.ts';
import { threadDirectory } from '../../session/thread/open-thread.ts';
import type { Draft } from '../../session/tui/composer/composer.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { runInTerminal } from '../../workspace/process/spawn.ts';

const maxEdited = 4 * 1024 * 1024;

/**
 * Opens a text in the user's editor (`VISUAL`, else `EDITOR`, else `vi`) and returns the edited text. The text is in
 * a file of a private directory for that time. If the editor fails, the text is unchanged.
 */
export async function editOutside(
  text: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'writ-edit-'));
  try {
    const path = join(directory, 'message.md');
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    const editor =
      [env.VISUAL, env.EDITOR, 'vi'].find((one) => one !== undefined && one.trim() !== '') ?? 'vi';
    // Split on whitespace; no shell interprets the variable.
    const argv = [...editor.trim().split(/\s+/), path];
    const own = Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const code = await runInTerminal(argv, { cwd, env: Object.fromEntries(own) }).catch((cause: unknown) => {
      throw notStarted(editor, cause);
    });
    if (code !== 0)
      throw new WritError('SPAWN_FAILED', {
        message: `the editor \`${argv[0]}\` ended with ${code}; the text is as it was`,
        detail: { program: argv[0], exit_code: code },
      });
    return await readText(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function notStarted(editor: string, cause: unknown): unknown {
  if (!isWritError(cause, 'SPAWN_FAILED')) return cause;
  return new WritError('SPAWN_FAILED', {
    message: `the editor \`${editor}\` could not be started; the text is as it was`,
    detail: cause.detail,
    hints: ['`VISUAL` or `EDITOR` names another one'],
    cause,
  });
}

async function readText(path: string): Promise<string> {
  await using file = await open(path, 'r').catch((cause: unknown) => {
    throw new WritError('SPAWN_FAILED', {
      message: 'the editor left no file that can be read; the text is as it was',
      cause,
    });
  });
  const { size } = await file.stat();
  if (size > maxEdited) throw new WritError('INPUT_TOO_LARGE', { detail: { limit: maxEdited, found: size } });
  return file.readFile('utf8');
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
    hints: ['look at the file, then remove it'],
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
