import { lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { randomOctets } from '../../core/base/ids.ts';
import {
  fromNamePart,
  identityOf,
  isProvenDead,
  ownIdentity,
  type ProcessIdentity,
  toIdentity,
  toNamePart,
} from '../process/process-identity.ts';
import type { GitDirectory } from './git.ts';

/** A lock file of git's that a process of ours may hold. */
export interface ClaimedLock {
  readonly path: string;
  /**
   * What our git writes into it; it may also be empty. Absent: the lock is a hard link of the claim, which proves whose
   * it is.
   */
  readonly contents?: readonly string[];
  /** A file that is written only by who holds the lock, and whose leftover is in the way like the lock itself. */
  readonly with?: string;
}

/** What a claim says: which locks, by whom, and since when. */
export interface ClaimedWork {
  readonly locks: readonly ClaimedLock[];
  /** Files that are of no use once all of them are gone. */
  readonly litter: readonly string[];
  /** First ourselves, then the git processes that we started. */
  readonly processes: readonly ProcessIdentity[];
  /** Modification time of the claim when it was made, by the file system's clock. */
  readonly sinceMs: number;
}

/** A claim of ours. */
export interface OpenClaim {
  readonly path: string;
  /** Adds a git process of ours; before it may begin. */
  add(pid: number): Promise<void>;
  /** Says that we are still there: no lock that is much younger than the last beat can be ours. */
  beat(): Promise<void>;
  end(): Promise<void>;
}

/**
 * A claim as found. `state`: its maker lives; its maker is gone and a git of its lives; all are gone; or it is not
 * whole (yet).
 */
export interface FoundClaim {
  readonly path: string;
  readonly state: 'working' | 'orphaned' | 'dead' | 'unreadable';
  readonly work: ClaimedWork;
  readonly beatMs: number;
  readonly inode: bigint;
  readonly device: bigint;
}

/** Where the claims of a repository are: beside its refs, shared by its linked work trees. */
export async function claimsDirectory(place: Pick<GitDirectory, 'gitDir'>): Promise<string> {
  return join(await commonDirOf(place), 'writ', 'git-locks');
}

/** The git directory that linked work trees share. */
export async function commonDirOf({ gitDir }: Pick<GitDirectory, 'gitDir'>): Promise<string> {
  const named = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => undefined);
  return named === undefined ? gitDir : resolve(gitDir, named.replace(/\n$/, ''));
}

/** Writes down, before it is done, which locks this process and its gits are about to take. */
export async function openClaim(
  place: Pick<GitDirectory, 'gitDir'>,
  work: (token: string) => Pick<ClaimedWork, 'locks' | 'litter'>,
): Promise<OpenClaim> {
  const directory = await claimsDirectory(place);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const token = randomOctets(12).toString('hex');
  const who = await ownIdentity();
  const path = join(directory, `${toNamePart(who)}+${token}.json`);
  const file = await open(path, 'ax', 0o600);
  try {
    const sinceMs = (await file.stat()).mtimeMs;
    await file.write(`${JSON.stringify({ ...work(token), sinceMs, who })}\n`);
  } catch (fault) {
    await file.close();
    await rm(path, { force: true });
    throw fault;
  }
  return {
    path,
    async add(pid) {
      await file.write(`${JSON.stringify({ who: await identityOf(pid) })}\n`);
    },
    async beat() {
      await file.write('\n');
    },
    async end() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

/** Every claim on locks of this repository, whoever made it. */
export async function readClaims(place: Pick<GitDirectory, 'gitDir'>): Promise<readonly FoundClaim[]> {
  const directory = await claimsDirectory(place);
  const names = await readdir(directory).catch(() => []);
  const found: FoundClaim[] = [];
  for (const name of names) {
    if (!/\+[0-9a-f]{24}\.json$/.test(name)) continue;
    const claim = await readClaim(join(directory, name), await commonDirOf(place));
    if (claim) found.push(claim);
  }
  return found;
}

async function readClaim(path: string, commonDir: string): Promise<FoundClaim | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  // Ended while we looked.
  if (stat === undefined || text === undefined) return undefined;
  const work = parseClaim(text, commonDir);
  const found = { path, beatMs: Number(stat.mtimeNs) / 1e6, inode: stat.ino, device: stat.dev };
  if (work === undefined) {
    // Not written yet, or cut off before it was: then it claims nothing, and the name alone says whose it was.
    const maker = fromNamePart(basename(path));
    const state = maker !== undefined && (await isProvenDead(maker)) ? 'dead' : 'unreadable';
    return { ...found, state, work: { locks: [], litter: [], processes: [], sinceMs: 0 } };
  }
  const alive = await Promise.all(work.processes.map(async (one) => !(await isProvenDead(one))));
  const state = alive[0] ? 'working' : alive.includes(true) ? 'orphaned' : 'dead';
  return { ...found, state, work };
}

/** A torn line behind the first is a git that was never let go. */
function parseClaim(text: string, commonDir: string): ClaimedWork | undefined {
  const [first, ...more] = text.split('\n').map(parseLine);
  const { locks, litter, sinceMs } = first ?? {};
  const maker = toIdentity(first?.who);
  if (maker === undefined || !Array.isArray(locks) || !Array.isArray(litter) || typeof sinceMs !== 'number')
    return undefined;
  const isInside = (path: unknown): path is string =>
    typeof path === 'string' && isAbsolute(path) && resolve(path).startsWith(`${commonDir}/`);
  const isLock = (lock: Partial<Record<keyof ClaimedLock, unknown>>): boolean =>
    isInside(lock.path) &&
    lock.path.endsWith('.lock') &&
    (lock.with === undefined || isInside(lock.with)) &&
    (lock.contents === undefined || Array.isArray(lock.contents));
  if (!locks.every(isLock) || !litter.every(isInside)) return undefined;
  const children = more.map((line) => toIdentity(line?.who)).filter((one) => one !== undefined);
  return { locks, litter, sinceMs, processes: [maker, ...children] };
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
