import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { runGit } from './git.ts';
import { listRefFiles } from './list-ref-files.ts';
import { namedBranch } from './named-branch.ts';
import { isMissing } from './ref-files.ts';
import { branchRef, encodeId } from './ref-name.ts';
import type { Repository } from './repository.ts';
import { readHead } from './resolve-commit.ts';

export interface TargetRequest {
  /** `--onto`: a branch name. */
  readonly onto?: string;
  /** `metadata.target.baseRef`, as written. */
  readonly baseRef: string;
  /** `undefined` on an unborn HEAD. */
  readonly baseCommit: string | undefined;
  readonly runId: string;
}

/** The branch that the sealed commit will be put on, and how it stands now. */
export interface Target {
  readonly ref: string;
  /** Where it must stand at the swap, or `undefined` for "must not exist". */
  readonly expected: string | undefined;
  /** HEAD of this work tree is on it: index and files follow the swap. */
  readonly checkedOutHere: boolean;
}

/**
 * Picks the target ref (4-resolutions, Target ref): `--onto`; else baseRef where it is a branch; else the checked-out
 * branch where its tip is the base; else a new `writ/<run>`. An `--onto` that is checked out in another work tree is
 * TARGET_CHECKED_OUT, an implied branch there is passed over: what nobody named is not moved under somebody's feet.
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
 * The target that a run was started with, as it stands from this work tree: where `resume` is typed changes nothing.
 * REF_INVALID for what is no branch, TARGET_CHECKED_OUT where another work tree would lose its footing.
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

interface Place {
  readonly head: Awaited<ReturnType<typeof readHead>>;
  readonly branches: ReadonlyMap<string, Branch>;
  consider(name: string): Considered;
}

async function readPlace(repo: Repository): Promise<Place> {
  const head = await readHead(repo);
  const branches = (await branchesOfFiles(repo, head.branch)) ?? (await readBranches(repo));
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

/**
 * A new branch cannot be made where one of its directories is a branch, or the reverse: better said before the run than
 * at the swap.
 */
function requireRoom(branches: ReadonlyMap<string, Branch>, { ref, tip }: Considered): void {
  if (tip !== undefined) return;
  const taken = [...branches.keys()].find((name) => ref.startsWith(`${name}/`) || name.startsWith(`${ref}/`));
  if (taken === undefined) return;
  throw new WritError('REF_INVALID', {
    message: `\`${printable(ref)}\` cannot be made beside \`${printable(taken)}\``,
    detail: { ref, taken },
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
  /** Path of the work tree that has it checked out, '' for none. */
  readonly worktree: string;
}

/**
 * Every branch out of the files that git keeps refs in. `undefined` where there are other work trees, or the files do
 * not say: ask git.
 */
async function branchesOfFiles(
  repo: Repository,
  checkedOut: string | undefined,
): Promise<ReadonlyMap<string, Branch> | undefined> {
  if (!(await isOnlyWorkTree(repo))) return undefined;
  const listed = await listRefFiles(repo, (name) => name === 'heads', /^refs\/heads\//);
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

/** git keeps what it knows of other work trees in a directory beside the refs. */
async function isOnlyWorkTree({ commonDir }: Repository): Promise<boolean> {
  return lstat(join(commonDir, 'worktrees')).then(() => false, isMissing);
}

async function readBranches(repo: Repository): Promise<ReadonlyMap<string, Branch>> {
  const format = '%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)%00';
  const listed = await runGit(repo, ['for-each-ref', `--format=${format}`, 'refs/heads/']);
  const fields = listed.toString('utf8').split('\0');
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

/** A branch may be a symbolic name of another: the one that moves is the one at the end. */
function followSymbolic(branches: ReadonlyMap<string, Branch>, name: string): string {
  let ref = name;
  for (let hops = 0; hops < 5; hops += 1) {
    const next = branches.get(ref)?.symbolic;
    if (!next?.startsWith('refs/heads/')) return ref;
    ref = next;
  }
  return ref;
}
