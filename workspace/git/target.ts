/* Selects the branch for a sealed commit, and the policy commit. */
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { gitFields, gitLine, tryGit } from './git.ts';
import { isAbsent, listRefFiles } from './ref-files.ts';
import { branchRef, encodeId, isRefName } from './ref-name.ts';
import { readRef } from './refs.ts';
import { isObjectId, type Repository } from './repository.ts';
import { type Base, readHead, resolveCommit, treeOf } from './resolve-commit.ts';

interface TargetRequest {
  readonly onto?: string;
  /** `metadata.target.baseRef`, as written. */
  readonly baseRef: string;
  /** `undefined` on an unborn HEAD. */
  readonly baseCommit: string | undefined;
  readonly runId: string;
}

/** The branch that the sealed commit goes to. */
export interface Target {
  readonly ref: string;
  /** Its commit at the swap; `undefined`: it must not exist. */
  readonly expected: string | undefined;
  /** HEAD of this working tree is on it, so index and files follow the swap. */
  readonly checkedOutHere: boolean;
}

/**
 * The target ref: `--onto`; else baseRef if it is a branch; else the checked-out branch if its tip is the base; else
 * a new `writ/<run>`. An `--onto` that another working tree has checked out is TARGET_CHECKED_OUT; an implied branch
 * of that kind is skipped, because it was not named.
 */
export async function planTarget(repo: Repository, request: TargetRequest): Promise<Target> {
  const { head, branches, consider } = await readPlace(repo);
  if (request.onto !== undefined) {
    const found = consider(branchRef(request.onto));
    requireMovable(branches, found);
    if (found.tip === undefined && found.checkedOutHere && request.baseCommit !== undefined) {
      throw new WritError('TARGET_MOVED', {
        message: `\`${printable(found.ref)}\` has no commit yet, and is checked out here`,
        detail: { ref: found.ref, expected: request.baseCommit, found: null },
        hints: ['choose another branch'],
      });
    }
    requireRoom(branches, found);
    return toTarget(found);
  }

  const named = await namedBranch(repo, request.baseRef);
  const stated = named?.startsWith('refs/heads/') ? consider(named) : undefined;
  if (stated?.tip !== undefined && !stated.elsewhere) return toTarget(stated);
  const here = head.branch?.startsWith('refs/heads/') ? consider(head.branch) : undefined;
  const isHere = here?.tip === request.baseCommit && (here?.tip !== undefined || here?.checkedOutHere);
  if (here && isHere && !here.elsewhere) return toTarget(here);
  const fresh = consider(`refs/heads/writ/${encodeId(request.runId)}`);
  requireRoom(branches, fresh);
  return toTarget(fresh);
}

/**
 * The target of a started run, as seen from this working tree; the current directory does not change it. REF_INVALID
 * if it is not a branch, TARGET_CHECKED_OUT if another working tree has it checked out.
 */
export async function reopenTarget(
  repo: Repository,
  { ref, expected }: Pick<Target, 'ref' | 'expected'>,
): Promise<Target> {
  const { branches, consider } = await readPlace(repo);
  const found = consider(branchRef(ref));
  if (found.ref !== ref || !ref.startsWith('refs/heads/')) {
    throw new WritError('REF_INVALID', {
      message: `expected the full name of a branch as target, found \`${printable(ref)}\``,
      detail: { ref: printable(ref) },
    });
  }
  requireMovable(branches, found);
  requireRoom(branches, found);
  return { ref, expected, checkedOutHere: found.checkedOutHere };
}

/** A branch by its full name: its commit, and whether a working tree has it checked out. */
export async function branchAt(
  repo: Repository,
  name: string,
): Promise<{ readonly tip: string | undefined; readonly isCheckedOut: boolean }> {
  const { tip, checkedOutHere, elsewhere } = (await readPlace(repo)).consider(name);
  return { tip, isCheckedOut: checkedOutHere || elsewhere };
}

interface Place {
  readonly head: Awaited<ReturnType<typeof readHead>>;
  readonly branches: ReadonlyMap<string, Branch>;
  consider(name: string): Considered;
}

async function readPlace(repo: Repository): Promise<Place> {
  const head = await readHead(repo);
  const branches = branchesOfFiles(repo, head.branch) ?? (await readBranches(repo));
  const consider = (name: string): Considered => {
    const ref = followSymbolic(branches, name);
    const branch = branches.get(ref);
    const checkedOutHere = head.branch === ref;
    const elsewhere = branch !== undefined && branch.worktree !== '' && !checkedOutHere;
    return { ref, tip: branch?.tip, checkedOutHere, elsewhere };
  };
  return { head, branches, consider };
}

function requireMovable(branches: ReadonlyMap<string, Branch>, { ref, elsewhere }: Considered): void {
  if (!elsewhere) return;
  throw new WritError('TARGET_CHECKED_OUT', { detail: { ref, worktree: branches.get(ref)?.worktree } });
}

/** REF_INVALID before the run, rather than at the swap, if a part of the new name is a branch or the reverse. */
function requireRoom(branches: ReadonlyMap<string, Branch>, { ref, tip }: Considered): void {
  if (tip !== undefined) return;
  const other = [...branches.keys()].find((name) => ref.startsWith(`${name}/`) || name.startsWith(`${ref}/`));
  if (other === undefined) return;
  throw new WritError('REF_INVALID', {
    message: `\`${printable(ref)}\` cannot be created, because \`${printable(other)}\` exists`,
    detail: { ref, taken: other },
    hints: ['choose another branch with `--onto`'],
  });
}

interface Considered {
  readonly ref: string;
  readonly tip: string | undefined;
  readonly checkedOutHere: boolean;
  readonly elsewhere: boolean;
}

function toTarget({ ref, tip, checkedOutHere }: Considered): Target {
  return { ref, expected: tip, checkedOutHere };
}

interface Branch {
  readonly tip: string;
  readonly symbolic: string;
  /** Path of the working tree that has it checked out, '' for none. */
  readonly worktree: string;
}

/** Every branch from git's files; `undefined` if there are other working trees, or only git can list them. */
function branchesOfFiles(
  repo: Repository,
  checkedOut: string | undefined,
): ReadonlyMap<string, Branch> | undefined {
  // git records other working trees in a directory beside the refs.
  if (!isAbsent(join(repo.commonDir, 'worktrees'))) return undefined;
  const listed = listRefFiles(repo, (name) => name === 'heads', /^refs\/heads\//);
  return (
    listed &&
    new Map(
      listed.map(({ ref, object }) => [
        ref,
        { tip: object, symbolic: '', worktree: ref === checkedOut ? repo.root : '' },
      ]),
    )
  );
}

async function readBranches(repo: Repository): Promise<ReadonlyMap<string, Branch>> {
  const format = '%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)%00';
  const fields = await gitFields(repo, ['for-each-ref', `--format=${format}`, 'refs/heads/']);
  const branches = new Map<string, Branch>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const ref = (fields[at] ?? '').replace(/^\n/, '');
    branches.set(ref, {
      tip: fields[at + 1] ?? '',
      symbolic: fields[at + 2] ?? '',
      worktree: fields[at + 3] ?? '',
    });
  }
  return branches;
}

/** A branch may be a symbolic ref; the last one moves. */
function followSymbolic(branches: ReadonlyMap<string, Branch>, name: string): string {
  let ref = name;
  for (let hops = 0; hops < 5; hops += 1) {
    const next = branches.get(ref)?.symbolic;
    if (!next?.startsWith('refs/heads/')) return ref;
    ref = next;
  }
  return ref;
}

const remote = 'refs/remotes/origin/';
const conventional = ['main', 'master'];

/**
 * The default branch as a full ref, if this clone knows one: HEAD of `origin`; else the branch of
 * `init.defaultBranch`; else `main` or `master` if only one of them exists; else the checked-out one.
 */
export async function defaultBranch(repo: Repository): Promise<string | undefined> {
  const remoteHead = await tryGit(repo, ['symbolic-ref', '--quiet', `${remote}HEAD`]);
  if (remoteHead?.startsWith(remote) && (await refExists(repo, remoteHead))) return remoteHead;
  const configured = await tryGit(repo, ['config', '--get', 'init.defaultBranch']);
  const named = configured && (await branchOf(repo, configured));
  if (named) return named;
  const found = (await Promise.all(conventional.map((name) => branchOf(repo, name)))).filter(
    (ref) => ref !== undefined,
  );
  if (found.length === 1) return found[0];
  const { branch, commit } = await readHead(repo);
  return commit === undefined ? undefined : branch;
}

/** `main` for `refs/heads/main` and `refs/remotes/origin/main`. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes\/origin)\//, '');
}

async function branchOf(repo: Repository, name: string): Promise<string | undefined> {
  for (const ref of [`refs/heads/${name}`, `${remote}${name}`]) if (await refExists(repo, ref)) return ref;
  return undefined;
}

const maxLength = 1024;

/**
 * The branch that a revision names, as a full ref: a local one, else a remote-tracking one, else that of `origin`.
 * `undefined` for a tag, an id, an expression or HEAD.
 */
export async function namedBranch(repo: Repository, revision: string): Promise<string | undefined> {
  if (isObjectId(revision) || revision === 'HEAD' || revision === '@') return undefined;
  if (revision.startsWith('-') || revision.length > maxLength || /\p{Cc}/u.test(revision)) return undefined;
  const local = revision.startsWith('refs/heads/') ? revision : `refs/heads/${revision}`;
  if (await refExists(repo, local)) return local;
  // `heads/main`, `origin/main`, `main@{upstream}`: git's rule for short names.
  const args = ['rev-parse', '--verify', '--quiet', '--symbolic-full-name', '--end-of-options', revision];
  const named = (await tryGit(repo, args)) ?? '';
  if (/^refs\/(?:heads|remotes)\//.test(named) && isRefName(named)) return named;
  const tracked = `refs/remotes/origin/${revision.replace(/^refs\/heads\//, '')}`;
  return named === '' && (await refExists(repo, tracked)) ? tracked : undefined;
}

async function refExists(repo: Repository, ref: string): Promise<boolean> {
  return isRefName(ref) && (await readRef(repo, ref)) !== undefined;
}

/**
 * The commit that provides the `.writ/` of a run: configuration, plugins, policies, signers. If there is no commit,
 * it is the empty tree of an unborn branch.
 */
export interface PolicyCommit extends Base {
  /**
   * The branch with this commit as its tip, which must still be the tip at the swap. Absent if the policy commit is
   * the base of the change.
   */
  readonly ref?: string;
}

/**
 * The policy commit: the tip of the target ref if it exists, else of the branch that baseRef names, else the base.
 * Never the working tree or the candidate: a change must not choose its own policy, nor escape a newer one by an old
 * base.
 */
export async function findPolicy(
  repo: Repository,
  { target, baseRef, base }: { readonly target: Target; readonly baseRef: string; readonly base: Base },
): Promise<PolicyCommit> {
  if (target.expected !== undefined)
    return { commit: target.expected, tree: await treeOf(repo, target.expected), ref: target.ref };
  const ref = await namedBranch(repo, baseRef);
  if (ref === undefined || (await readRef(repo, ref)) === undefined) return base;
  const commit = await resolveCommit(repo, ref);
  return { commit, tree: await treeOf(repo, commit), ref };
}

/**
 * Throws if the sealed commit cannot replace the tip of the target: TARGET_MOVED if `commit` is not that tip, or
 * `base` is not its only parent; COMMIT_PUBLISHED if a remote-tracking branch holds it.
 */
export async function requireReplaceable(
  repository: Repository,
  { ref, expected }: Pick<Target, 'ref' | 'expected'>,
  base: Base,
  commit: string | undefined,
): Promise<void> {
  const shown = printable(ref.replace(/^refs\/heads\//, ''));
  const args = ['rev-list', '--parents', '--max-count=1', '--end-of-options'];
  const [, ...parents] = (expected && (await gitLine(repository, [...args, expected])).split(' ')) || [];
  if (commit === undefined || commit !== expected || parents.length !== 1 || parents[0] !== base.commit) {
    throw new WritError('TARGET_MOVED', {
      message: `\`${shown}\` moved, or its last commit does not have exactly one parent`,
      detail: { ref, expected: commit ?? null, found: expected ?? null },
    });
  }
  const holders = ['for-each-ref', '--count=1', '--format=%(refname)', '--contains', commit, 'refs/remotes'];
  const published = await gitLine(repository, holders);
  if (published === '') return;
  throw new WritError('COMMIT_PUBLISHED', {
    message: `the commit at the tip of \`${shown}\` is on \`${printable(published.replace(/^refs\/remotes\//, ''))}\` already`,
    detail: { commit, ref: published },
  });
}
