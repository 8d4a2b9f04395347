/** The control files of a session: token, discovery file and their locks. */
import { lstat, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { compact } from '../../api/envelope.ts';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import {
  createPrivateFile,
  formatDiscovery,
  ignoreDirectory,
  makeToken,
  openPrivateDirectory,
  parseDiscovery,
  readPrivateFile,
  removeOwnFile,
  writePrivateFile,
} from '../../http/private-files.ts';
import { acquireProcessLock, isProcessLockHeld } from '../../workspace/process/process-lock.ts';

/** Paths of control files that the user passed. */
export interface ControlFiles {
  /** `--control-token-file` */
  readonly tokenFile?: string;
  /** `--control-info-file` */
  readonly infoFile?: string;
}

/** Where a session puts what others control it by. */
export interface ControlPlace {
  /** Root of the work tree; exists. */
  readonly root: string;
  /** `.writ/code`: the default directory. */
  readonly segments: readonly string[];
  readonly directory: string;
  readonly token: string;
  readonly info: string;
  /** The user passed the path of the discovery file: it is written in every mode. */
  readonly isInfoNamed: boolean;
  readonly tokenLock: string;
  readonly infoLock: string;
}

const segments = ['.writ', 'code'];

/**
 * Resolves the control files: the given paths, or `.writ/code` of the working tree. Each file has a lock:
 * `control.lock` for the defaults, else the file's name with `.lock`. USAGE if both paths are equal, or one is that
 * of the MCP token.
 */
export async function findControlPlace(
  root: string,
  { tokenFile, infoFile }: ControlFiles,
): Promise<ControlPlace> {
  const directory = join(root, ...segments);
  const shared = join(directory, 'control.lock');
  const ownToken = join(directory, 'control-token');
  const ownInfo = join(directory, 'control.json');
  const token = tokenFile === undefined ? ownToken : await oneName(tokenFile);
  const info = infoFile === undefined ? ownInfo : await oneName(infoFile);
  const lockOf = (file: string) => (file === ownToken || file === ownInfo ? shared : `${file}.lock`);
  const place = {
    root,
    segments,
    directory,
    token,
    info,
    isInfoNamed: infoFile !== undefined,
    tokenLock: lockOf(token),
    infoLock: lockOf(info),
  };
  const names = [token, info, place.tokenLock, place.infoLock];
  if (token === info || names.slice(2).some((lock) => lock === token || lock === info))
    throw new WritError('USAGE', {
      message: 'expected `--control-token-file` and `--control-info-file` to be two files',
      detail: { token_file: token, info_file: info },
    });
  const ofMcp = [token, info].find((file) => file.startsWith(join(directory, 'mcp-token')));
  if (ofMcp !== undefined)
    throw new WritError('USAGE', {
      message: `\`${ofMcp}\` is where the token of MCP is put: expected another control file`,
      detail: { token_file: token, info_file: info },
    });
  return place;
}

/** However its directory was spelt, a file has one name here; the file itself may be a link, which is refused later. */
async function oneName(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}

interface ControlOptions {
  readonly mode: 'observe' | 'write';
  readonly place: ControlPlace;
  readonly workingDir: string;
  readonly clock: Clock;
}

/** Where a session is served, once it is. */
interface ServedAt {
  /** `http://127.0.0.1:1234`, a literal loopback address. */
  readonly baseUrl: string;
  readonly mcpUrl?: string;
  readonly threadId?: string;
}

/** What others find and control a session by; its end removes the files, where they are still those of this session. */
interface OpenControl extends AsyncDisposable {
  /** Of this process, for automation; absent where there is none. */
  readonly token?: string;
  /** Writes the discovery file, if there is one. PRIVATE_FILE_UNSAFE. */
  publish(at: ServedAt): Promise<void>;
}

/**
 * Prepares the control files before the server starts. `write`: lock, new token, and a discovery file once the
 * session is served. `observe`: only a discovery file, at the path that was given. Files of a killed session are
 * replaced. CONTROL_INSTANCE_CONFLICT, PRIVATE_FILE_UNSAFE.
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

/** Locks that this process holds and no session uses. */
const idle = new Set<string>();

/**
 * Holds a lock until this process ends; a lock of a dead process is replaced. Returns a function that releases it for
 * another session of this process. CONTROL_INSTANCE_CONFLICT with `detail {lock, pid?, base_url?}`;
 * PRIVATE_FILE_UNSAFE.
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
      hints: ['make its directory writable for you'],
      cause: fault,
    });
  }
}

async function conflict(lock: string, info: string, pid: number | undefined): Promise<WritError> {
  const found = await readPrivateFile(info)
    .then((text) => (text === undefined ? undefined : parseDiscovery(text, info)))
    .catch(() => undefined);
  // The discovery file of a killed session has another address.
  const url = found !== undefined && found.pid === pid ? found.baseUrl : undefined;
  return new WritError('CONTROL_INSTANCE_CONFLICT', {
    message: `process ${pid ?? '?'} already uses these control files${url === undefined ? '' : `, on ${url}`}`,
    detail: {
      lock,
      ...compact({ pid, base_url: url }),
    },
  });
}

/**
 * Removes a control file that a killed session left. Any other file is PRIVATE_FILE_UNSAFE: a link, no regular file,
 * not mode 0600, another owner, or content that `isOurs` rejects. The caller holds the file's lock.
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
    hints: ['look at the file, then remove it or name another one'],
  });
}
