import { lstat, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { formatDiscovery, makeToken, parseDiscovery } from '../../http/discovery.ts';
import {
  createPrivateFile,
  ignoreDirectory,
  openPrivateDirectory,
  readPrivateFile,
  removeOwnFile,
  writePrivateFile,
} from '../../http/private-files.ts';
import { acquireProcessLock, isProcessLockHeld } from '../../workspace/process/process-lock.ts';
import type { ControlPlace } from './control-place.ts';

export interface ControlOptions {
  readonly mode: 'observe' | 'write';
  readonly place: ControlPlace;
  readonly workingDir: string;
  readonly clock: Clock;
}

/** Where a session is served, once it is. */
export interface ServedAt {
  /** `http://127.0.0.1:1234`, a literal loopback address. */
  readonly baseUrl: string;
  readonly mcpUrl?: string;
  readonly threadId?: string;
}

/** What others find and control a session by; its end removes the files, where they are still those of this session. */
export interface OpenControl extends AsyncDisposable {
  /** Of this process, for automation; absent where there is none. */
  readonly token?: string;
  /** Writes the discovery file, anew each time; nothing where nobody asked for one. PRIVATE_FILE_UNSAFE. */
  publish(at: ServedAt): Promise<void>;
}

/**
 * The control files of a session (document 2, Authentication), before its server starts. `write`: lock, fresh token,
 * and a discovery file once it is served; `observe`: the discovery file alone, where it was named. What a killed
 * session left is replaced. CONTROL_INSTANCE_CONFLICT, PRIVATE_FILE_UNSAFE.
 */
export async function openControl({ mode, place, workingDir, clock }: ControlOptions): Promise<OpenControl> {
  const { token: tokenPath, info, tokenLock, infoLock } = place;
  const isWrite = mode === 'write';
  if (!isWrite && !place.isInfoNamed) return { async publish() {}, async [Symbol.asyncDispose]() {} };
  const locks = new Set(isWrite ? [tokenLock, infoLock] : [infoLock]);
  const giveBack: (() => void)[] = [];
  let token: string | undefined;
  let published: string | undefined;
  const close = async (): Promise<void> => {
    if (published !== undefined) await removeOwnFile(info, published);
    if (token !== undefined) await removeOwnFile(tokenPath, token);
    for (const step of giveBack.splice(0)) step();
  };
  try {
    if ([...locks].some((lock) => dirname(lock) === place.directory))
      await ignoreDirectory(await openPrivateDirectory(place.root, place.segments));
    for (const lock of locks) giveBack.push(await holdControlLock(lock, info));
    await takeFileName(info, 'discovery file', (text) => isDiscovery(text, info));
    if (isWrite) {
      await takeFileName(tokenPath, 'control token', isToken);
      const made = makeToken();
      await createPrivateFile(tokenPath, made);
      token = made;
    }
  } catch (fault) {
    await close();
    throw fault;
  }
  const startedAt = toRfc3339(clock.now());
  return {
    ...(token === undefined ? {} : { token }),
    async publish({ baseUrl, mcpUrl, threadId }) {
      const text = formatDiscovery({
        version: 1,
        mode,
        pid: process.pid,
        baseUrl,
        ...(mcpUrl === undefined ? {} : { mcpUrl }),
        workingDir,
        ...(threadId === undefined ? {} : { threadId }),
        startedAt,
      });
      await writePrivateFile(info, text);
      published = text;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** A kill can leave it empty. */
function isToken(text: string): boolean {
  return /^(?:[\w-]{43}\n?)?$/.test(text);
}

function isDiscovery(text: string, path: string): boolean {
  try {
    return ['observe', 'write'].includes(parseDiscovery(text, path).mode);
  } catch (fault) {
    if (isWritError(fault)) return false;
    throw fault;
  }
}

/** Locks that this process has and nobody in it uses. */
const idle = new Set<string>();

/**
 * Takes a lock until this process ends: it is not unlinked, and the next one takes over what a dead process left
 * (resolutions, Control files). Answers what lets another session of this very process have it.
 * CONTROL_INSTANCE_CONFLICT with `detail {lock, pid?, base_url?}`; PRIVATE_FILE_UNSAFE for what is no lock of ours.
 */
async function holdControlLock(path: string, info: string): Promise<() => void> {
  const giveBack = (): void => void idle.add(path);
  if (idle.delete(path) && (await isProcessLockHeld(path, process.pid))) return giveBack;
  // A cloned repository can bring a link, and reading where it leads may never end.
  await readPrivateFile(path);
  let pid: number | undefined;
  try {
    await acquireProcessLock(path, {
      busy: (holder) => {
        pid = holder?.pid;
        return new WritError('CONTROL_INSTANCE_CONFLICT');
      },
    });
    return giveBack;
  } catch (fault) {
    if (isWritError(fault, 'CONTROL_INSTANCE_CONFLICT')) throw await conflict(path, info, pid);
    if (isWritError(fault)) throw fault;
    throw new WritError('PRIVATE_FILE_UNSAFE', {
      message: `\`${path}\` cannot be made: ${messageOf(fault)}`,
      detail: { path },
      hints: ['make its directory one that you can write to'],
      cause: fault,
    });
  }
}

async function conflict(lock: string, info: string, pid: number | undefined): Promise<WritError> {
  const found = await readPrivateFile(info)
    .then((text) => (text === undefined ? undefined : parseDiscovery(text, info)))
    .catch(() => undefined);
  // What a killed one left is not the address of whoever holds the lock now.
  const url = found !== undefined && found.pid === pid ? found.baseUrl : undefined;
  return new WritError('CONTROL_INSTANCE_CONFLICT', {
    message: `process ${pid ?? '?'} has these control files already${url === undefined ? '' : `, on ${url}`}`,
    detail: {
      lock,
      ...(pid === undefined ? {} : { pid }),
      ...(url === undefined ? {} : { base_url: url }),
    },
  });
}

/**
 * Makes room for a control file at a path that a person may have chosen: what a killed session left there is removed.
 * Everything else stays and is PRIVATE_FILE_UNSAFE: a link, what is no regular file, not 0600 or somebody else's, and a
 * file of another kind, of which `isOurs` says no. Only for whoever holds the file's lock.
 */
async function takeFileName(path: string, what: string, isOurs: (text: string) => boolean): Promise<void> {
  const text = await readPrivateFile(path);
  if (text === undefined) return;
  const mode = (await lstat(path)).mode & 0o777;
  if (mode !== 0o600) throw refused(path, `expected mode 600, found ${mode.toString(8)}`);
  if (!isOurs(text)) throw refused(path, `it is no ${what}`);
  await rm(path, { force: true });
}

function refused(path: string, reason: string): WritError {
  return new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: ['look at what it is, then name another file or remove it'],
  });
}
