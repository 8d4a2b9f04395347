import { createHash, hash } from 'node:crypto';
import { once } from 'node:events';
import { WritError } from '../base/errors.ts';
import type { StartedProcess } from '../tool/spawn.ts';
import { gitFailed, gitLine, runGit, startGit, withGit } from './git.ts';
import type { GitSetting } from './git-environment.ts';
import type { Scratch } from './scratch.ts';

/** Path and content of each file; read once, in order. */
export type TreeFiles =
  | Iterable<readonly [path: string, bytes: Uint8Array]>
  | AsyncIterable<readonly [path: string, bytes: Uint8Array]>;

/** The names come from us and are read by us: what a work tree on another system could not hold is no reason to refuse them. */
const anyName: readonly GitSetting[] = [
  ['core.protectNTFS', 'false'],
  ['core.protectHFS', 'false'],
];
const chunkBytes = 128 * 1024;
const smallBytes = 16 * 1024;

/**
 * Makes a tree of plain files in a scratch, on top of the tree of `over` where given; answers its id. Holds no content in memory: any
 * number of files goes in, one pack comes out. INTERNAL for a path that would leave the tree.
 *
 * `git fast-import` could build the tree too, but looks each name up from the front of its directory: 100,000 files in one take a minute.
 */
export async function importTree(scratch: Scratch, files: TreeFiles, over?: string): Promise<string> {
  const place: Scratch = { ...scratch, settings: [...scratch.settings, ...anyName] };
  if (over !== undefined) await runGit(place, ['read-tree', over]);
  const blobs = feed(place, ['fast-import', '--quiet', '--done']);
  const index = feed(place, ['update-index', '-z', '--replace', '--index-info']);
  try {
    for await (const [path, bytes] of files) {
      requireStorePath(path);
      const id = blobId(place.objectFormat, bytes);
      await blobs.put(`blob\ndata ${bytes.length}\n`, bytes, '\n');
      await index.put(`100644 ${id}\t${path}\0`);
    }
    await blobs.end('done\n');
    await index.end();
  } catch (fault) {
    await Promise.all([blobs.stop(), index.stop()]);
    throw fault;
  }
  // Refuses a tree whose blobs are not there.
  return gitLine(place, ['write-tree']);
}

function blobId(format: Scratch['objectFormat'], bytes: Uint8Array): string {
  const header = Buffer.from(`blob ${bytes.length}\0`);
  // In one go is twice as fast, as long as the copy costs nothing.
  if (bytes.length < smallBytes) return hash(format, Buffer.concat([header, bytes]));
  return createHash(format).update(header).update(bytes).digest('hex');
}

interface Feed {
  /** Keeps the bytes until they are sent. Something to wait for only when a chunk is full. */
  put(...parts: readonly (string | Uint8Array)[]): Promise<void> | undefined;
  /** Closes the input and waits; GIT_FAILED for any exit code but 0. */
  end(last?: string): Promise<void>;
  stop(): Promise<void>;
}

/** A git that is fed in chunks: a system call per file would cost more than the file. */
function feed(place: Scratch, args: readonly string[]): Feed {
  const git: StartedProcess = startGit(place, args);
  git.stdout.resume();
  let parts: Uint8Array[] = [];
  let held = 0;
  let ended = false;
  const onEnd = () => {
    ended = true;
  };
  git.exited.then(onEnd, onEnd);
  const flush = async (): Promise<void> => {
    const chunk = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    parts = [];
    held = 0;
    // A git that has gone never drains; its exit code tells why.
    if (!ended && !git.stdin.write(chunk))
      await Promise.race([once(git.stdin, 'drain'), git.exited]).catch(() => {});
  };
  const put = (...more: readonly (string | Uint8Array)[]): Promise<void> | undefined => {
    for (const part of more) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      parts.push(bytes);
      held += bytes.length;
    }
    return held < chunkBytes ? undefined : flush();
  };
  return {
    put,
    async end(last = '') {
      await put(last);
      await flush();
      git.stdin.end();
      const { code, stderr } = await withGit(() => git.exited);
      if (code !== 0) throw gitFailed(args, code, firstFatal(stderr.toString('utf8')));
    },
    async stop() {
      git.kill();
      await git.exited.catch(() => {});
    },
  };
}

/** After its fatal line, fast-import tells at length where its crash report is. */
function firstFatal(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('fatal:')) ?? stderr.slice(0, 500);
}

/** True for the path of a stored file: relative, without empty parts, `.`, `..`, `.git` and NUL. */
export function isStorePath(path: string): boolean {
  const isName = (part: string): boolean =>
    part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git';
  return !path.includes('\0') && path.split('/').every(isName);
}

/** Refuses with INTERNAL what is no path of a stored file. */
export function requireStorePath(path: string): string {
  if (isStorePath(path)) return path;
  throw new WritError('INTERNAL', { message: `\`${path}\` is no path to store under`, detail: { path } });
}
