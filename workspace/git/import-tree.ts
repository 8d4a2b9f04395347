import { createHash, hash } from 'node:crypto';
import { once } from 'node:events';
import type { StartedProcess } from '../process/spawn.ts';
import { type GitDirectory, gitFailed, gitLine, runGit, startGit, withGit } from './git.ts';
import type { GitSetting } from './git-environment.ts';
import { writeLooseObject } from './loose-object.ts';
import { treeOf } from './resolve-commit.ts';
import type { Scratch } from './scratch.ts';
import { requireStorePath } from './store-path.ts';
import { type TreePlace, writeTree } from './write-tree.ts';

/** Path and content of each file; read once, in order. */
export type TreeFiles =
  | Iterable<readonly [path: string, bytes: Uint8Array]>
  | AsyncIterable<readonly [path: string, bytes: Uint8Array]>;

/**
 * The names come from us and are read by us: what a work tree on another system could not hold is no reason to refuse
 * them.
 */
const anyName: readonly GitSetting[] = [
  ['core.protectNTFS', 'false'],
  ['core.protectHFS', 'false'],
];
/** As `fastimport.unpackLimit`: so few objects are not worth a pack. */
const fewFiles = 100;
const fewBytes = 4 * 1024 * 1024;
const chunkBytes = 128 * 1024;
const smallBytes = 16 * 1024;

/**
 * Makes a tree of plain files in a scratch, on top of the tree of `over` where given (read from `from`); answers its
 * id. Few files become an object each, without any process; of more, any number goes in without being held, and one
 * pack comes out. INTERNAL for a path that would leave the tree.
 */
export async function importTree(
  scratch: Scratch,
  files: TreeFiles,
  over?: string,
  from: GitDirectory = scratch,
): Promise<string> {
  const source = each(files);
  const first = new Map<string, Uint8Array>();
  try {
    for (let bytes = 0; first.size <= fewFiles && bytes <= fewBytes; ) {
      const { value, done } = await source.next();
      if (done === true) return await writeFew({ from, to: scratch }, first, over);
      first.set(requireStorePath(value[0]), value[1]);
      bytes += value[1].length;
    }
    return await importMany(scratch, first, source, over);
  } finally {
    await source.return(undefined);
  }
}

async function* each(files: TreeFiles): AsyncGenerator<readonly [string, Uint8Array], undefined> {
  yield* files;
}

async function writeFew(
  place: TreePlace,
  files: ReadonlyMap<string, Uint8Array>,
  over: string | undefined,
): Promise<string> {
  const objects = new Map<string, string>();
  const write = async ([path, bytes]: readonly [string, Uint8Array]): Promise<void> => {
    objects.set(path, await writeLooseObject(place.to, { type: 'blob', bytes }, true));
  };
  // All have ended before a fault leaves: the scratch goes with it.
  for (const one of await Promise.allSettled([...files].map(write)))
    if (one.status === 'rejected') throw one.reason;
  return writeTree(place, objects, over === undefined ? undefined : await treeOf(place.from, over));
}

/**
 * `git fast-import` could build the tree too, but looks each name up from the front of its directory: 100,000 files in
 * one take a minute.
 */
async function importMany(
  scratch: Scratch,
  first: ReadonlyMap<string, Uint8Array>,
  rest: AsyncIterable<readonly [string, Uint8Array]>,
  over: string | undefined,
): Promise<string> {
  const place: Scratch = { ...scratch, settings: [...scratch.settings, ...anyName] };
  if (over !== undefined) await runGit(place, ['read-tree', over]);
  const blobs = feed(place, ['fast-import', '--quiet', '--done']);
  const index = feed(place, ['update-index', '-z', '--replace', '--index-info']);
  const put = async (path: string, bytes: Uint8Array): Promise<void> => {
    const id = blobId(place.objectFormat, bytes);
    await blobs.put(`blob\ndata ${bytes.length}\n`, bytes, '\n');
    await index.put(`100644 ${id}\t${requireStorePath(path)}\0`);
  };
  try {
    for (const [path, bytes] of first) await put(path, bytes);
    for await (const [path, bytes] of rest) await put(path, bytes);
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
