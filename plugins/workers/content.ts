/* The git remote through which jobs and results travel: what a ref holds, and how it is pushed, listed and fetched. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { type GitDirectory, gitLine } from '../../workspace/git/git.ts';
import { askRemote, networkPlace, type Remote, remoteFailed } from '../../workspace/git/network.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { describeObjects, readObjects } from '../../workspace/git/read-objects.ts';
import { type Borrowable, createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { type TreeLeaf, writeLooseObject, writeTree } from '../../workspace/git/write-tree.ts';
import { type Job, maxJobBytes, maxSecretsBytes, readJob, refused } from './job.ts';

const treeMode = '040000';
const maxListBytes = 16 * 1024 * 1024;
const secretsFile = 'secrets.age';
/** The same for every writer, so that the same content has the same id. */
const writer = { name: 'writ', email: 'writ@writ.invalid' };

export const jobRef = (action: string): string => `refs/writ/jobs/${action}`;
export const resultRef = (action: string, keyId: string): string => `refs/writ/results/${action}/${keyId}`;

/** A ref that moves at the remote if it is still at `from` there (`null`: it does not exist; `to` null deletes). */
export interface RefOrder {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** A git directory of our own, and the remote. */
export interface Content {
  readonly place: Scratch;
  /** Moves all of these refs or none; false if one of them is not where it was expected. REMOTE_FAILED. */
  push(orders: readonly RefOrder[], signal?: AbortSignal): Promise<boolean>;
  /** Object ids of refs at the remote by name; a pattern ends with `/*`. REMOTE_FAILED. */
  list(patterns: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /**
   * Brings refs, or all that match a pattern with `*`, under the same names to `place`. False: a ref is not there.
   * REMOTE_FAILED.
   */
  bring(refs: readonly string[], signal?: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** Refs of calls that go together: a command line is bounded. */
const mostTogether = 200;

/**
 * One call of a remote costs a dozen processes, whatever it moves: calls that come while another one is on its way go
 * together, in their order. If `act` is false for several, each is tried alone.
 */
function together<T>(
  act: (all: readonly T[], signal?: AbortSignal) => Promise<boolean>,
  keyOf: (one: T) => string,
): (all: readonly T[], signal?: AbortSignal) => Promise<boolean> {
  interface Call {
    readonly all: readonly T[];
    readonly signal: AbortSignal | undefined;
    readonly settle: (answer: Promise<boolean>) => void;
  }
  const waiting: Call[] = [];
  let isBusy = false;
  const next = (): readonly Call[] => {
    const keys = new Set<string>();
    const fits = ({ all, signal }: Call, at: number): boolean =>
      at === 0 ||
      (keys.size + all.length <= mostTogether &&
        signal === waiting[0]?.signal &&
        !all.some((one) => keys.has(keyOf(one))));
    let count = 0;
    for (const call of waiting) {
      if (!fits(call, count)) break;
      for (const one of call.all) keys.add(keyOf(one));
      count += 1;
    }
    return waiting.splice(0, count);
  };
  const work = async (): Promise<void> => {
    isBusy = true;
    for (let calls = next(); calls.length > 0; calls = next()) {
      const all = calls.flatMap((call) => call.all);
      const answer = act(all, calls[0]?.signal);
      const isWhole = await answer.catch(() => true);
      for (const call of calls) {
        const own = isWhole || calls.length === 1 ? answer : act(call.all, call.signal);
        call.settle(own);
        await own.catch(() => undefined);
      }
    }
    isBusy = false;
  };
  return (all, signal) =>
    new Promise((resolve) => {
      waiting.push({ all, signal, settle: resolve });
      if (!isBusy) void work();
    });
}

/**
 * Opens the remote with a git directory at `directory`, which borrows the objects of `over` or keeps its own. Settings
 * and credentials are those of `network`, a user's repository, or of the user alone.
 */
export async function openContent(
  directory: string,
  remote: Remote,
  { over, network }: { readonly over: Borrowable; readonly network?: GitDirectory },
): Promise<Content> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const scratch = await createScratch(directory, over);
  if (network === undefined) await rm(join(scratch.objectsDir, 'info', 'alternates'));
  const own = { ...scratch, env: { GIT_DIR: directory }, settings: [] };
  const { env, settings } = await networkPlace(network ?? own);
  const { GIT_WORK_TREE: _, ...others } = { GIT_WORK_TREE: undefined, ...env };
  const reaching = { ...scratch, env: { ...others, GIT_DIR: directory }, settings };
  const quiet = ['--quiet', '--end-of-options', remote.address];
  const place = { ...scratch, borrowed: network === undefined ? [] : scratch.borrowed };
  const readers = keepObjectReaders();
  readers.keep(place);
  return {
    place,
    close: async () => readers[Symbol.asyncDispose](),
    push: together(
      async (orders: readonly RefOrder[], signal) => {
        const leases = orders.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`);
        const moves = orders.map(({ ref, to }) => `${to ?? ''}:${ref}`);
        const args = ['push', '--atomic', '--porcelain', '--no-verify', ...leases, ...quiet, ...moves];
        const answer = await askRemote(reaching, args, signal === undefined ? {} : { signal });
        if (answer.code === 0) return true;
        const said = `${answer.stdout.toString('utf8')}${answer.stderr}`;
        if (/stale info|fetch first|cannot lock ref|failed to update ref|reference already exists/.test(said))
          return false;
        throw remoteFailed(remote, answer);
      },
      ({ ref }) => ref,
    ),
    async list(patterns, signal) {
      const args = ['ls-remote', '--refs', ...quiet, ...patterns];
      const call = { maxBytes: maxListBytes, ...(signal === undefined ? {} : { signal }) };
      const answer = await askRemote(reaching, args, call);
      if (answer.code !== 0) throw remoteFailed(remote, answer);
      const lines = answer.stdout.toString('utf8').split('\n');
      return new Map(
        lines.flatMap((line) => {
          const [, id, ref] = /^([0-9a-f]{40,64})\t(refs\/writ\/.+)$/.exec(line) ?? [];
          return id === undefined || ref === undefined ? [] : [[ref, id]];
        }),
      );
    },
    bring: together(async (refs: readonly string[], signal) => {
      const specs = refs.map((ref) => `+${ref}:${ref}`);
      const args = [
        'fetch',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        ...quiet,
        ...specs,
      ];
      const answer = await askRemote(reaching, args, signal === undefined ? {} : { signal });
      if (answer.code === 0) return true;
      if (answer.stderr.includes("couldn't find remote ref")) return false;
      throw remoteFailed(remote, answer);
    }, String),
  };
}

const verdictRefs = 'refs/writ/verdicts';
const verdictForm = /^refs\/writ\/verdicts\/[0-9a-f]{64}\/(\d{1,7})-([0-9a-f]{64})-[0-9a-f]{16}$/;
const mostExpired = 500;

/** Fetches results that were kept under these conditions: the newest, with their action digests. REMOTE_FAILED. */
export async function findVerdicts(
  content: Content,
  conditions: string,
  most: number,
): Promise<readonly { readonly action: string; readonly commit: string }[]> {
  const prefix = `${verdictRefs}/${conditions}/`;
  await content.bring([`${prefix}*`]);
  const format = '--format=%(objectname) %(refname)';
  const lines = (await gitLine(content.place, ['for-each-ref', format, prefix])).split('\n');
  return lines
    .flatMap((line) => {
      const [commit = '', ref = ''] = line.split(' ');
      const [, day, action] = verdictForm.exec(ref) ?? [];
      return action === undefined ? [] : [{ action, commit, day: Number(day) }];
    })
    .sort((one, other) => other.day - one.day)
    .slice(0, most);
}

/** Keeps a result at the remote beyond its job, and removes older ones than `maxAgeDays`. REMOTE_FAILED. */
export async function keepVerdict(
  content: Content,
  kept: Readonly<Record<'conditions' | 'action' | 'keyId' | 'commit', string>>,
  { day, maxAgeDays }: { readonly day: number; readonly maxAgeDays: number },
): Promise<void> {
  const { conditions, action, keyId, commit } = kept;
  const ref = `${verdictRefs}/${conditions}/${day}-${action}-${keyId.slice(0, 16)}`;
  await content.push([{ ref, from: null, to: commit }]);
  const expired = [...(await content.list([`${verdictRefs}/*`]))].flatMap(([old, from]) => {
    const since = verdictForm.exec(old)?.[1];
    return since !== undefined && Number(since) < day - maxAgeDays ? [{ ref: old, from, to: null }] : [];
  });
  if (expired.length > 0) await content.push(expired.slice(0, mostExpired));
}

/** Object ids of refs that were brought, in their order. */
export async function broughtIds(
  place: Scratch,
  refs: readonly string[],
): Promise<readonly (string | undefined)[]> {
  return (await describeObjects(place, refs)).map((head) => head?.id);
}

/** Writes a commit over a tree of these files and subtrees; the same content has the same id. */
export async function commitFiles(
  place: Scratch,
  files: ReadonlyMap<string, Uint8Array | { readonly tree: string }>,
  message: string,
  parents: readonly string[] = [],
): Promise<string> {
  const leaves = new Map<string, TreeLeaf>();
  for (const [path, content] of files)
    leaves.set(
      path,
      'tree' in content
        ? { mode: treeMode, object: content.tree }
        : await writeLooseObject(place, { type: 'blob', bytes: content }, false),
    );
  const tree = await writeTree({ from: place, to: place }, leaves, undefined, false);
  return commitTree(place, tree, message, parents);
}

export function commitTree(
  place: Scratch,
  tree: string,
  message: string,
  parents: readonly string[],
): Promise<string> {
  const times = { authoredAtMs: 0, committedAtMs: 0 };
  return createCommit(place, { tree, parents, message, author: writer, committer: writer, ...times }, false);
}

/** A dispatch of a job: its document, the number of the dispatch, and the ref's commit and tree. */
export interface Dispatch {
  readonly job: Job;
  readonly fence: number;
  readonly commit: string;
  readonly tree: string;
  /** Its encrypted secrets. */
  readonly sealed?: Buffer;
}

/** The commit of one dispatch; the objects that the job names are in `place`. */
export async function commitJob(
  place: Scratch,
  { job, bytes, fence, sealed }: Pick<Dispatch, 'job' | 'fence' | 'sealed'> & { readonly bytes: Buffer },
): Promise<string> {
  const commits = await readObjects(
    place,
    job.history.map(({ commit }) => commit),
  );
  const files = new Map<string, Uint8Array | { readonly tree: string }>([
    ['job.json', bytes],
    ['fence', Buffer.from(`${fence}\n`)],
    ['candidate', { tree: job.candidate }],
  ]);
  if (sealed !== undefined) files.set(secretsFile, sealed);
  for (const [at, { tree }] of job.given.entries()) files.set(`given/${at}`, { tree });
  for (const [at, { commit, tree }] of job.history.entries()) {
    const found = commits[at];
    if (found?.type !== 'commit') throw new WritError('REF_NOT_FOUND', { detail: { ref: commit } });
    files.set(`history/${at}`, found.bytes);
    files.set(`trees/${at}`, { tree });
  }
  return commitFiles(place, files, 'writ job\n');
}

/**
 * Reads a dispatch that was fetched. Every object that the job names is shown to be the one that travelled with it,
 * and its commits are written; JOB_REFUSED where one is not.
 */
export async function readDispatch(place: Scratch, commit: string, action: string): Promise<Dispatch> {
  const files = await readFiles(place, commit, ['job.json', 'fence'], maxJobBytes);
  const job = readJob(files.get('job.json') ?? Buffer.alloc(0), action);
  const fence = Number(/^(\d{1,9})\n$/.exec(`${files.get('fence') ?? ''}`)?.[1]);
  if (!Number.isSafeInteger(fence)) throw refused('job', 'it has no number of its dispatch');
  const wanted = [
    [`${commit}:candidate`, job.candidate],
    ...job.given.map(({ tree }, at) => [`${commit}:given/${at}`, tree]),
    ...job.history.map(({ tree }, at) => [`${commit}:trees/${at}`, tree]),
    [`${commit}^{tree}`, undefined],
    [`${commit}^{commit}`, undefined],
  ] as const;
  const heads = await describeObjects(
    place,
    wanted.map(([name]) => name ?? ''),
  );
  for (const [at, [name, id]] of wanted.entries())
    if (id !== undefined && (heads[at]?.type !== 'tree' || heads[at]?.id !== id))
      throw refused('job', `\`${name?.slice(name.indexOf(':') + 1)}\` is not the tree that it names`);
  const raw = await readObjects(
    place,
    job.history.map((_, at) => `${commit}:history/${at}`),
  );
  for (const [at, { commit: id, tree }] of job.history.entries()) {
    const bytes = raw[at]?.bytes ?? Buffer.alloc(0);
    const isOfTree = bytes.toString('latin1', 0, 5 + tree.length + 1) === `tree ${tree}\n`;
    if (!isOfTree || (await writeLooseObject(place, { type: 'commit', bytes }, false)) !== id)
      throw refused('job', 'a commit of its history is not the one that it names');
  }
  const sealed = (await readFiles(place, commit, [secretsFile], maxSecretsBytes)).get(secretsFile);
  return {
    ...{ job, fence, tree: heads.at(-2)?.id ?? '', commit: heads.at(-1)?.id ?? '' },
    ...(sealed === undefined ? {} : { sealed }),
  };
}

/** Blobs of a commit by path, each of at most `maxBytes`; absent ones are left out. JOB_REFUSED for a larger one. */
export async function readFiles(
  place: Scratch,
  commit: string,
  paths: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, Buffer>> {
  const names = paths.map((path) => `${commit}:${path}`);
  const heads = await describeObjects(place, names);
  if (heads.some((head) => (head?.sizeBytes ?? 0) > maxBytes))
    throw refused('commit', `a file of it has more than ${maxBytes} bytes`);
  const found = await readObjects(place, names);
  return new Map(
    paths.flatMap((path, at) => {
      const one = found[at];
      return one?.type === 'blob' ? [[path, one.bytes] as const] : [];
    }),
  );
}
