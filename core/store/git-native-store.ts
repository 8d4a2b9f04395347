import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { isWritError, messageOf, WritError } from '../base/errors.ts';
import type { StartedProcess } from '../tool/spawn.ts';
import { adoptObjects } from '../vcs/adopt-objects.ts';
import { readBlobs } from '../vcs/blobs.ts';
import { gitFailed, startGit, withGit } from '../vcs/git.ts';
import { listRefs, readRef, updateRefs } from '../vcs/refs.ts';
import { isObjectId, type Repository } from '../vcs/repository.ts';
import { createScratch, type Scratch } from '../vcs/scratch.ts';
import { listTree } from '../vcs/tree.ts';
import type { ObjectStore, WriteTree } from './object-store.ts';

export interface GitNativeOptions {
  readonly clock: Clock;
  /** Name on the commits; default `writ`. */
  readonly actorId?: string;
}

/**
 * Keeps objects as blobs under commits on refs of the person's repository: they travel with it and any git reads them. Each write is one
 * `git fast-import` and one compare-and-swap of the ref.
 */
export function openGitNativeStore(repo: Repository, options: GitNativeOptions): ObjectStore {
  return {
    async writeTree(ref, write) {
      const current = await readRef(repo, ref);
      const old = write.expectedOld === undefined ? current : (write.expectedOld ?? undefined);
      // A repeatable write that is not current may be this very one, made by a process that was stopped right after it.
      if (old !== current && write.atMs === undefined) throw conflict(ref, old, current);
      try {
        const commit = await importCommit(repo, write, old, options);
        if (commit === current) return commit;
        if (old !== current) throw conflict(ref, old, current);
        const outcome = await updateRefs(repo, [{ ref, old, new: commit }], write.message);
        if (!outcome.moved) throw conflict(ref, old, outcome.stale[0]?.found);
        return commit;
      } catch (cause) {
        if (isWritError(cause, 'EVIDENCE_WRITE_FAILED') || isWritError(cause, 'GIT_MISSING')) throw cause;
        throw new WritError('EVIDENCE_WRITE_FAILED', {
          message: `\`${ref}\` could not be written: ${messageOf(cause)}`,
          detail: { ref, ...(isWritError(cause) ? { reason: cause.detail } : {}) },
          cause,
        });
      }
    },
    version: (ref) => readRef(repo, ref),
    async read(ref, path) {
      const version = await readRef(repo, ref);
      return version === undefined ? undefined : (await readBlobs(repo, version, [path])).get(path);
    },
    async readMany(ref, paths) {
      const version = await readRef(repo, ref);
      return version === undefined ? new Map() : readBlobs(repo, version, paths);
    },
    async list(ref) {
      const version = await readRef(repo, ref);
      if (version === undefined) return [];
      return (await listTree(repo, version)).map(({ path, object, sizeBytes }) => ({
        path,
        object,
        sizeBytes,
      }));
    },
    async refs(prefix) {
      return (await listRefs(repo, prefix)).map(({ ref, object }) => ({ ref, version: object }));
    },
    async remove(ref) {
      const old = await readRef(repo, ref);
      if (old !== undefined) await updateRefs(repo, [{ ref, old, new: undefined }], 'writ: remove');
    },
  };
}

/**
 * Makes the commit in a directory of ours inside the repository's own file system, so that a full disk or a failing source leaves nothing
 * behind, and only then moves its objects over. The ref that fast-import insists on goes with the directory.
 */
async function importCommit(
  repo: Repository,
  write: WriteTree,
  parent: string | undefined,
  options: GitNativeOptions,
): Promise<string> {
  const parentDir = join(repo.commonDir, 'writ', 'tmp');
  await mkdir(parentDir, { recursive: true, mode: 0o700 });
  const dir = await mkdtemp(join(parentDir, 'store-'));
  try {
    const scratch = await createScratch(dir, repo);
    const place: Scratch = {
      ...scratch,
      // Evidence must outlive a power cut before the ref says that it exists; git leaves loose objects unsynced by default.
      settings: [...scratch.settings, ['core.fsync', 'committed'], ['core.fsyncObjectFiles', 'true']],
    };
    const id = await fastImport(place, write, parent, options);
    await adoptObjects(scratch, repo);
    return id;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function fastImport(
  place: Scratch,
  write: WriteTree,
  parent: string | undefined,
  options: GitNativeOptions,
): Promise<string> {
  const command = ['fast-import', '--quiet', '--done', '--date-format=raw'];
  const git = startGit(place, command);
  const answered = readAll(git);
  try {
    await writeStream(git, write, parent, options);
  } catch (fault) {
    git.kill();
    await git.exited.catch(() => {});
    throw fault;
  }
  const { code, stderr } = await withGit(() => git.exited);
  const id = (await answered).trim();
  if (code !== 0 || !isObjectId(id)) throw gitFailed(command, code, firstFatal(stderr.toString('utf8')));
  return id;
}

async function writeStream(
  git: StartedProcess,
  write: WriteTree,
  parent: string | undefined,
  options: GitNativeOptions,
): Promise<void> {
  const { clock, actorId = 'writ' } = options;
  let ended = false;
  git.exited.then(
    () => (ended = true),
    () => (ended = true),
  );
  const put = async (chunk: string | Uint8Array): Promise<void> => {
    if (ended || git.stdin.write(chunk)) return;
    // A git that has gone never drains; its exit code tells why.
    await Promise.race([once(git.stdin, 'drain'), git.exited]).catch(() => {});
  };
  const actor = actorId.replace(/[\p{Cc}<>]/gu, ' ').trim();
  const message = Buffer.from(`${write.message.replace(/\p{Cc}+/gu, ' ')}\n`);
  await put(
    `commit refs/heads/stored\nmark :1\ncommitter ${actor} <writ@localhost> ${Math.floor((write.atMs ?? clock.now()) / 1000)} +0000\n`,
  );
  await put(`data ${message.length}\n`);
  await put(message);
  if (parent !== undefined) await put(`from ${parent}\n${write.keepExisting ? '' : 'deleteall\n'}`);
  for await (const [path, bytes] of write.files) {
    await put(`M 100644 inline ${quotePath(path)}\ndata ${bytes.length}\n`);
    await put(bytes);
    await put('\n');
  }
  await put('\nget-mark :1\ndone\n');
  git.stdin.end();
}

async function readAll(git: StartedProcess): Promise<string> {
  let text = '';
  for await (const chunk of git.stdout) if (text.length < 1000) text += String(chunk);
  return text;
}

/** After its fatal line, fast-import tells at length where its crash report is. */
function firstFatal(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('fatal:')) ?? stderr.slice(0, 500);
}

function quotePath(path: string): string {
  if (
    path === '' ||
    path
      .split('/')
      .some((part) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git') ||
    path.includes('\0')
  ) {
    throw new WritError('INTERNAL', { message: `\`${path}\` is no path to store under`, detail: { path } });
  }
  return `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}

function conflict(ref: string, expected: string | undefined, found: string | undefined): WritError {
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `\`${ref}\` was written by another process`,
    detail: { ref, expected: expected ?? null, found: found ?? null },
  });
}
