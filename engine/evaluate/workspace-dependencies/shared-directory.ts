/* Shares ignored directories of the working tree with checks. */
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { readPlain, writeDurably } from '../../../core/base/files.ts';
import { workspaceInside } from '../../../core/interfaces/sandbox.ts';
import { processWitness, type Voucher } from '../../../store/journal-witness.ts';
import {
  type DirectoryDigest,
  digestDirectory,
  type KeptDigests,
} from '../../../workspace/git/directory-digest.ts';
import { stateDirectory } from '../../../workspace/git/repository.ts';
import { isInside } from '../../../workspace/process/find-program.ts';
import type { Attempt } from '../../state/open-run.ts';
import { installedProject } from './installed-project.ts';

/** Texts that runs of this repository left on this machine, each under the digest of what it depends on. */
export interface VouchedCache {
  /** The text under a key; `undefined` if there is none, or if this user did not write it. */
  find(key: string): Promise<string | undefined>;
  /** Keeps a text, unless it is larger than 32 MiB. */
  keep(key: string, text: string): Promise<void>;
}

const maxKept = 256;
const maxBytes = 32 * 1024 * 1024;

/** The cache of one kind of text. */
export async function vouchedCacheOf(
  { environment, services }: Pick<Attempt, 'environment' | 'services'>,
  of: { readonly folder: string; readonly voucher: string },
): Promise<VouchedCache> {
  const directory = join(stateDirectory(environment.repository, 'cache'), of.folder);
  return openVouchedCache(directory, await (services.settings.witness ?? processWitness).voucher(of.voucher));
}

/** A cache in `directory`. Only what `voucher` vouches for is read. */
export function openVouchedCache(directory: string, voucher: Voucher): VouchedCache {
  const pathOf = (key: string): string => join(directory, `${key}.json`);
  return {
    async find(key) {
      const { bytes } = readPlain(pathOf(key), maxBytes);
      if (bytes === undefined) return undefined;
      const text = Buffer.from(bytes).toString('utf8');
      const [mac, said] = [text.slice(0, 64), text.slice(65)];
      return voucher.vouched(line(key, said), mac) ? said : undefined;
    },
    async keep(key, said) {
      if (Buffer.byteLength(said) + 65 > maxBytes) return;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await chmod(directory, 0o700);
      await removeOldest(directory);
      await writeDurably(pathOf(key), `${voucher.vouch(line(key, said))}\n${said}`);
    },
  };
}

function line(key: string, said: string): string {
  return `${key} ${sha256Hex(said)}`;
}

async function removeOldest(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (names.length < maxKept) return;
  const ages = await Promise.all(
    names.map(async (name) => {
      const status = await stat(join(directory, name)).catch(() => undefined);
      return { name, at: status?.mtimeMs ?? 0 };
    }),
  );
  ages.sort((a, b) => a.at - b.at);
  for (const { name } of ages.slice(0, names.length - maxKept + 1))
    await rm(join(directory, name), { force: true });
}

interface ShareRequest {
  /** Repository-relative directory to share. */
  readonly directory: string;
  readonly worktree: string;
  readonly lockfile: string;
  readonly lockfileAtBase: Uint8Array | undefined;
  readonly lockfileAtCandidate: Uint8Array | undefined;
  /** True only if git ignores the path and tracks no file at or under it. */
  isIgnored(path: string): Promise<boolean>;
  /** True only if the base commit and the candidate hold the same file at the path. */
  isUnchanged(path: string): Promise<boolean>;
  /** Where digests of files are kept between runs; absent: every file is read. */
  readonly digests?: VouchedCache;
  readonly signal?: AbortSignal;
}

export type ShareRefusal =
  | 'lockfile-missing'
  | 'lockfile-differs'
  | 'directory-missing'
  | 'escapes-worktree'
  | 'not-ignored'
  | 'holds-project'
  | 'not-describable'
  | 'program-unseen';

type ShareOutcome =
  | { readonly source: string; readonly digest: Exclude<DirectoryDigest, { fault: string }> }
  | { readonly refusal: ShareRefusal; readonly message: string };

export const directoryLimits = { maxEntries: 1_000_000, maxBytes: 16 * 2 ** 30 } as const;
/** Of a lockfile. */
export const maxLockfileBytes = 64 * 2 ** 20;

/**
 * Finds an ignored directory of the user's working tree that may replace the candidate's own dependencies. The
 * lockfile on disk, at base and in the candidate must be equal. Every refusal is a return value.
 */
export async function openSharedDirectory(request: ShareRequest): Promise<ShareOutcome> {
  const { directory, lockfile, lockfileAtBase, lockfileAtCandidate } = request;
  const refuse = (refusal: ShareRefusal, message: string): ShareOutcome => ({
    refusal,
    message: `\`${directory}\` is not shared: ${message}`,
  });
  const worktree = await realpath(request.worktree);

  if (lockfileAtBase === undefined)
    return refuse(
      'lockfile-missing',
      `\`${lockfile}\` is not in the base commit; \`lockfile\` in \`[workspace]\` names the file that decides its content`,
    );
  if (lockfileAtCandidate === undefined)
    return refuse('lockfile-missing', `the change removes \`${lockfile}\``);
  if (!Buffer.from(lockfileAtBase).equals(lockfileAtCandidate)) {
    return refuse(
      'lockfile-differs',
      `the change alters \`${lockfile}\`; a \`[[workspace.prepare]]\` in \`.writ/config.toml\` makes it for every lockfile`,
    );
  }
  const onDisk = await readInside(worktree, lockfile);
  if (onDisk === undefined) return refuse('lockfile-missing', `\`${lockfile}\` is not in the working tree`);
  if (!onDisk.equals(lockfileAtBase)) {
    return refuse('lockfile-differs', `\`${lockfile}\` in the working tree differs from the base commit`);
  }

  const source = await realpath(join(worktree, directory)).catch(() => undefined);
  if (source === undefined || !(await stat(source)).isDirectory()) {
    return refuse('directory-missing', 'there is no such directory in the working tree');
  }
  if (!isInside(worktree, source) || source === worktree) {
    return refuse('escapes-worktree', 'it leads out of the working tree');
  }
  const real = relative(worktree, source).split(sep).join('/');
  for (const path of new Set([directory, real])) {
    if (!(await request.isIgnored(path)))
      return refuse('not-ignored', `git tracks \`${path}\` or does not ignore it`);
  }

  const installed = await installedProject(source, worktree, request.isUnchanged);
  if (installed?.isLink === false)
    return refuse(
      'holds-project',
      installed.archive === undefined
        ? `this project is installed in it as a copy (\`${installed.record}\`), which tests would run in place of the change; install it as a link: \`pip install -e .\``
        : `\`${installed.archive}\` is installed in it (\`${installed.record}\`), an archive that may be a copy of this project, which tests would run in place of the change; install the project as a link (\`pip install -e .\`), and track third-party archives or keep them outside the working tree`,
    );
  if (installed && worktree !== workspaceInside && isInside(workspaceInside, worktree))
    return refuse(
      'holds-project',
      `this project is installed in it as a link to \`${worktree}\`, and \`${workspaceInside}\` is where checks see the candidate: clone the repository to another place, or let \`[[workspace.prepare]]\` make it`,
    );
  const { digests } = request;
  const key = sha256Hex(source);
  const kept = digests === undefined ? undefined : keptDigests(await digests.find(key));
  const digest = await digestDirectory(source, {
    within: worktree,
    ...directoryLimits,
    ...(kept === undefined ? {} : { kept }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  if (kept?.hasNew()) await digests?.keep(key, kept.text());
  return 'fault' in digest ? refuse('not-describable', digest.fault) : { source, digest };
}

/** A file may change once more in the time that its change time cannot tell apart. */
const settledMs = 2000;

/** Digests of files as lines `SHA256 STATE\tPATH`. */
function keptDigests(text = ''): KeptDigests & { hasNew(): boolean; text(): string } {
  const begunAtMs = systemClock.now();
  const before = new Map<string, string>();
  for (const line of text.split('\0')) if (line !== '') before.set(line.slice(65), line.slice(0, 64));
  const now: string[] = [];
  let isNew = false;
  return {
    find: (path, state) => before.get(`${state}\t${path}`),
    keep(path, state, changedAtMs, sha256) {
      if (changedAtMs > begunAtMs - settledMs) return;
      now.push(`${sha256} ${state}\t${path}\0`);
      isNew ||= !before.has(`${state}\t${path}`);
    },
    hasNew: () => isNew,
    text: () => now.join(''),
  };
}

async function readInside(worktree: string, path: string): Promise<Buffer | undefined> {
  const real = await realpath(join(worktree, path)).catch(() => undefined);
  if (real === undefined || !isInside(worktree, real)) return undefined;
  return readPlain(real, maxLockfileBytes).bytes;
}

/**
 * Copies one file or directory from `fromRoot` to the same path under `toRoot`. Links are copied as links and never
 * followed, also on the way to `path`. Returns `false` if `path` does not exist. Throws on a link on the way and on
 * special files.
 */
export async function copyTree(fromRoot: string, toRoot: string, path: string): Promise<boolean> {
  const segments = path.split('/');
  for (let count = 1; count <= segments.length; count += 1) {
    const part = segments.slice(0, count).join('/');
    const status = await lstat(join(fromRoot, part)).catch(() => undefined);
    if (status === undefined) return false;
    if (count === segments.length) break;
    if (!status.isDirectory()) throw new Error(`\`${part}\` is not a directory`);
    await mkdir(join(toRoot, part), { recursive: true });
  }
  const pending = [path];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const from = join(fromRoot, next);
    const to = join(toRoot, next);
    const status = await lstat(from);
    if (status.isDirectory()) {
      await mkdir(to, { recursive: true });
      for (const name of await readdir(from)) pending.push(`${next}/${name}`);
    } else if (status.isFile()) await copyFile(from, to, constants.COPYFILE_FICLONE);
    else if (status.isSymbolicLink()) await symlink(await readlink(from), to);
    else throw new Error(`\`${next}\` is neither a file, a directory nor a link`);
  }
  return true;
}
