import { dirname } from 'node:path';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { formatDiscovery, parseDiscovery } from '../../http/discovery.ts';
import { ignoreDirectory } from '../../http/ignore-directory.ts';
import {
  createPrivateFile,
  openPrivateDirectory,
  removeOwnFile,
  writePrivateFile,
} from '../../http/private-files.ts';
import { makeToken } from '../../http/token.ts';
import type { ControlPlace } from './control-place.ts';
import { holdControlLock } from './hold-control-lock.ts';
import { takeFileName } from './take-file-name.ts';

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
