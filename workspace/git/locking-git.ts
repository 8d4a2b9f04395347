import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { StartedProcess } from '../process/spawn.ts';
import { type GitAnswer, type GitDirectory, startGatedGit, withGit } from './git.ts';
import { type ClaimedLock, type OpenClaim, openClaim } from './git-claim.ts';
import { lockInTheWay, removeStaleLocks } from './stale-locks.ts';

export interface LockingCall {
  readonly input: string;
  readonly locks: readonly ClaimedLock[];
  /** How long a lock that somebody holds is waited for; default 5 s. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

const defaultWaitMs = 5_000;
const beatEveryMs = 100;
const maxPauseMs = 200;
const maxAnswerBytes = 1024 * 1024;
const maxErrorText = 2_000;
/** git's own codes end here: beyond it, a signal ended it. */
const signalled = 128;

/**
 * Runs a git that takes locks, so that neither its death nor ours leaves one in anybody's way: what it may take is
 * claimed first, what dead processes of ours left is removed, and what a living process holds is waited for. `lock` is
 * the one that was still held at the end.
 */
export async function askLockingGit(
  place: GitDirectory,
  args: readonly string[],
  call: LockingCall,
): Promise<GitAnswer & { readonly lock?: string }> {
  const { waitMs = defaultWaitMs, clock = systemClock } = call;
  const deadline = clock.monotonic() + waitMs;
  await removeStaleLocks(place);
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const answer = await askOnce(place, args, call);
    const lock = answer.code === 0 ? undefined : lockInTheWay(answer.stderr);
    if (lock === undefined) return answer;
    await removeStaleLocks(place);
    if (clock.monotonic() >= deadline) return { ...answer, lock };
    await clock.sleep(pauseMs);
  }
}

async function askOnce(place: GitDirectory, args: readonly string[], call: LockingCall): Promise<GitAnswer> {
  const claim = await openClaim(place, () => ({ locks: call.locks, litter: [] }));
  try {
    const answer = await askUnderClaim(claim, place, args, call.input);
    if (answer.code > signalled) await removeStaleLocks(place, claim.path);
    return answer;
  } finally {
    await claim.end();
  }
}

/** Runs a git that is named in `claim` before it begins. */
export async function askUnderClaim(
  claim: OpenClaim,
  place: GitDirectory,
  args: readonly string[],
  input: string | Uint8Array = '',
): Promise<GitAnswer> {
  const git = startGatedGit(place, args);
  const stdout = readBounded(git);
  const beating = setInterval(() => claim.beat().catch(() => undefined), beatEveryMs);
  try {
    if (git.pid !== undefined) await claim.add(git.pid);
    git.open(input);
    const { code, stderr } = await withGit(() => git.exited);
    // The shell's answer where there is no such program.
    if (code === 127) throw new WritError('GIT_MISSING');
    return { code, stdout: await stdout, stderr: stderr.toString('utf8').slice(0, maxErrorText) };
  } finally {
    clearInterval(beating);
    git.kill();
  }
}

async function readBounded(git: StartedProcess): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of git.stdout) {
    bytes += chunk.length;
    if (bytes <= maxAnswerBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
