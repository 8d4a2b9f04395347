/* Finds where a sealed commit is to be pushed, and tries before any work whether it can be. */
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { shortRef } from '../../store/landed.ts';
import { gitLine, tryGit } from '../../workspace/git/git.ts';
import { networkPlace, pickRemote, type Remote, remoteFailed } from '../../workspace/git/network.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { readRef, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { landingOf } from '../config/sections.ts';
import { askPush, orderBranch } from './push-refs.ts';
import { openRefView } from './remote.ts';

/** A branch of a remote. */
export interface PushPlace {
  readonly remote: Remote;
  readonly branch: string;
  /** The ref that tracks it here; absent for a remote that is an address. */
  readonly tracking?: string;
  /** The branch is not the one that the target has as its upstream. */
  readonly isApart: boolean;
}

/**
 * Where commits of a branch go. The remote is that of `[landing]` at the policy commit, else that of `git push`
 * (`pushRemote`, `remote.pushDefault`, the upstream), else `origin` or the only one. The branch there has the same
 * name, unless git pushes to the upstream (`push.default`): `git switch -c topic origin/main` makes `main` the upstream
 * of `topic`. REMOTE_UNKNOWN; PUSH_REJECTED if that would move the default branch of a remote.
 */
export async function findPushPlace(
  repository: Repository,
  target: string,
  policyCommit: string | undefined,
): Promise<PushPlace> {
  const config =
    policyCommit === undefined ? undefined : await readBlob(repository, policyCommit, '.writ/config.toml');
  const names = ['push:remotename', 'push', 'upstream:remotename', 'upstream', 'upstream:remoteref'];
  const format = names.map((name) => `%(${name})`).join('%00');
  const listed = await gitLine(repository, ['for-each-ref', `--format=${format}`, target]);
  const [ofPush, pushed, ofUpstream, upstream = '', remoteRef = ''] =
    listed.split('\n')[0]?.split('\0') ?? [];
  // `.` is this repository.
  const byGit = ofPush === '.' ? '' : ofPush;
  const remote = await pickRemote(
    repository,
    landingOf(config).remote || byGit || undefined,
    repository.root,
  );
  const isUpstream = remoteRef === target || (upstream !== '' && pushed === upstream);
  if (remote.address === ofUpstream && isUpstream)
    return { remote, branch: remoteRef, tracking: upstream, isApart: false };
  const { name } = remote;
  const isApart = remoteRef !== '';
  if (name === undefined) return { remote, branch: target, isApart };
  const tracking = `refs/remotes/${name}/${shortRef(target)}`;
  const isNamedApart = isApart && remoteRef !== target;
  const head =
    isNamedApart && (await tryGit(repository, ['symbolic-ref', '-q', `refs/remotes/${name}/HEAD`]));
  if (head === tracking) throw otherUpstream(remote, target, remoteRef);
  return { remote, branch: target, tracking, isApart };
}

/** git would refuse it as well: the default branch of the remote is not the one that this branch follows. */
function otherUpstream({ shown }: Remote, target: string, upstream: string): WritError {
  const [own, followed] = [target, upstream].map((ref) => printable(shortRef(ref)));
  return new WritError('PUSH_REJECTED', {
    message: `\`${own}\` follows \`${followed}\`, and a push to \`${own}\` would move the default branch of \`${shown}\``,
    detail: { remote: shown, branch: target, expected: upstream },
    hints: [
      `to push to \`${followed}\`: \`git config push.default upstream\``,
      `to follow \`${own}\`: \`git branch --set-upstream-to=${shown}/${own} ${own}\``,
    ],
  });
}

/**
 * Throws before any work what would keep a commit on top of `base` from being pushed: PUSH_REJECTED if the remote has
 * moved on, PUSH_NOT_ATOMIC, REMOTE_FAILED.
 */
export async function requirePushable(
  repository: Repository,
  { remote, branch, isApart }: PushPlace,
  base: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  // Without a commit there is nothing to try it with.
  if (base === undefined) return;
  const place = await networkPlace(repository);
  const order = await orderBranch(place, remote, { branch, commit: base }, signal);
  if ('status' in order && order.status === 'moved')
    throw new WritError('PUSH_REJECTED', {
      message: `\`${printable(shortRef(branch))}\` of \`${remote.shown}\` has commits that the base of the change does not have`,
      detail: { remote: remote.shown, branch, found: order.from, expected: base },
      hints: [
        `bring them, and put the change on top: \`git pull --rebase --autostash ${remote.shown} ${printable(shortRef(branch))}\`; then try again`,
        ...(isApart
          ? [
              `if these are commits of yours that were rewritten since: \`git push --force-with-lease ${remote.shown} HEAD:${printable(branch)}\`; then try again`,
            ]
          : []),
      ],
    });
  await using view = await openRefView(place, repository);
  await view.setRefs([{ ref: branch, object: base }]);
  const options = ['--dry-run', '--atomic'];
  const answer = await askPush(view.place, remote, options, [`${branch}:${branch}`], signal);
  if (answer.code !== 0) throw remoteFailed(remote, answer);
}

/** Notes here what the remote has now, as `git push` does. */
export async function followPush(
  repository: Repository,
  { tracking }: PushPlace,
  commit: string,
): Promise<void> {
  if (tracking === undefined) return;
  const old = await readRef(repository, tracking);
  if (old !== commit) await updateRefs(repository, [{ ref: tracking, old, new: commit }], 'update by push');
}
