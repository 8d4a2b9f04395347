import { WritError } from '../base/errors.ts';
import { runGit } from './git.ts';
import { branchRef, encodeId, isRefName, printable } from './ref-name.ts';
import { isObjectId, type Repository } from './repository.ts';
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
  /** Where it must stand at the swap: the base commit, or `undefined` for "must not exist". */
  readonly expected: string | undefined;
  /** HEAD of this work tree is on it: index and files follow the swap. */
  readonly checkedOutHere: boolean;
  /** Branches that would have been chosen, and why they were not. */
  readonly passedOver: readonly {
    readonly ref: string;
    readonly reason: 'moved' | 'checked-out-elsewhere';
  }[];
}

/**
 * Picks the target ref (4-resolutions, Target ref): `--onto`; else baseRef where it is a branch at the base; else the checked-out branch at
 * the base; else a new `writ/<run>`. An `--onto` that stands elsewhere than the base is TARGET_MOVED, one checked out in another work
 * tree is TARGET_CHECKED_OUT; implied branches in those states are passed over.
 */
export async function planTarget(repo: Repository, request: TargetRequest): Promise<Target> {
  const head = await readHead(repo);
  const branches = await readBranches(repo);
  const consider = (name: string): Considered => {
    const ref = followSymbolic(branches, name);
    const branch = branches.get(ref);
    const checkedOutHere = head.branch === ref;
    const elsewhere = branch !== undefined && branch.worktree !== '' && !checkedOutHere;
    return { ref, tip: branch?.tip, checkedOutHere, elsewhere };
  };
  const passedOver: { ref: string; reason: 'moved' | 'checked-out-elsewhere' }[] = [];

  if (request.onto !== undefined) {
    const found = consider(branchRef(request.onto));
    if (found.elsewhere) {
      throw new WritError('TARGET_CHECKED_OUT', {
        detail: { ref: found.ref, worktree: branches.get(found.ref)?.worktree },
      });
    }
    const isNew = found.tip === undefined && !(found.checkedOutHere && request.baseCommit !== undefined);
    if (found.tip !== request.baseCommit && !isNew) {
      throw new WritError('TARGET_MOVED', {
        message: `\`${printable(found.ref)}\` does not stand at the base commit`,
        detail: { ref: found.ref, expected: request.baseCommit ?? null, found: found.tip ?? null },
        hints: ['choose a branch at the base commit, or name a new one'],
      });
    }
    requireRoom(branches, found);
    return toTarget(found, passedOver);
  }

  for (const name of impliedBranches(request.baseRef, head.branch)) {
    const found = consider(name);
    const isHere = found.tip === request.baseCommit && (found.tip !== undefined || found.checkedOutHere);
    if (isHere && !found.elsewhere) return toTarget(found, passedOver);
    if (found.tip === undefined) continue;
    passedOver.push({ ref: found.ref, reason: found.elsewhere ? 'checked-out-elsewhere' : 'moved' });
  }
  const fresh = consider(`refs/heads/writ/${encodeId(request.runId)}`);
  requireRoom(branches, fresh);
  return toTarget(fresh, passedOver);
}

/** A new branch cannot be made where one of its directories is a branch, or the reverse: better said before the run than at the swap. */
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

function toTarget({ ref, tip, checkedOutHere }: Considered, passedOver: Target['passedOver']): Target {
  return { ref, expected: tip, checkedOutHere, passedOver };
}

function impliedBranches(baseRef: string, headBranch: string | undefined): readonly string[] {
  const named = baseRef.startsWith('refs/heads/') ? baseRef : `refs/heads/${baseRef}`;
  const isName = isRefName(named) && !isObjectId(baseRef) && baseRef !== 'HEAD';
  return [
    ...new Set([...(isName ? [named] : []), ...(headBranch?.startsWith('refs/heads/') ? [headBranch] : [])]),
  ];
}

interface Branch {
  readonly tip: string;
  readonly symbolic: string;
  /** Path of the work tree that has it checked out, '' for none. */
  readonly worktree: string;
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
