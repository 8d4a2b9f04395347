/* Refuses to resume a run that another clone sealed and landed. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { findLandings } from '../../store/landed.ts';
import { dirtyPaths, touchedBy } from '../../workspace/git/dirty-paths.ts';
import { runGit } from '../../workspace/git/git.ts';
import { changedEntries } from '../../workspace/git/held-index.ts';
import { type IncludedChanges, readLocalContent } from '../../workspace/git/include-local.ts';
import { readRef } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { StartedRun } from '../record/started-run.ts';
import { localChangesAt } from '../state/commit-wording.ts';

/** A run that waits here, and what it includes of the working tree. */
interface WaitingHere {
  readonly started: StartedRun;
  readonly included: IncludedChanges | undefined;
  /** Opened only if the content of the working tree has to be compared. */
  openScratch(): Promise<Scratch>;
}

/**
 * Throws RUN_NOT_RESUMABLE if another clone sealed the run and its commit has landed on the target branch. The hints
 * explain how this clone follows. They discard included local changes only if that commit holds them and no file was
 * edited since.
 */
export async function refuseSealedElsewhere(repository: Repository, waiting: WaitingHere): Promise<void> {
  const { runId, target } = waiting.started;
  const commit = await findSealed(repository, waiting.started);
  if (commit === undefined) return;
  const isHere = (await readRef(repository, target.ref)) !== (target.expected ?? undefined);
  const included = isHere ? undefined : waiting.included;
  const { words, hint } = included
    ? await followIncluded(repository, { ...waiting, included }, commit)
    : { words: '', hint: isHere ? undefined : 'bring the branch here: `git pull --ff-only`' };
  throw new WritError('RUN_NOT_RESUMABLE', {
    message: `run \`${runId}\` was sealed in another clone as commit \`${commit}\`${words}`,
    detail: { run_id: runId, commit, ref: target.ref, included: included?.paths.slice(0, 20) ?? [] },
    hints: [
      ...(hint === undefined ? [] : [hint]),
      `then use the record of that clone: \`writ fetch\`, \`writ fetch --theirs ${runId}\``,
    ],
  });
}

const maxCommits = 1000;

/** The commit of the run on a branch of the target's name, here or tracked, that has landed. */
async function findSealed(
  repository: Repository,
  { runId, target }: Pick<StartedRun, 'runId' | 'target'>,
): Promise<string | undefined> {
  // Git allows no glob characters in a ref name. `--branches=NAME` without one would list `NAME/*` only.
  const name = target.ref.replace(/^refs\/heads\//, '');
  const isHere = (await readRef(repository, target.ref)) !== undefined;
  const args = [
    'log',
    `--max-count=${maxCommits}`,
    '--no-show-signature',
    '--format=%H %(trailers:key=Run-Id,valueonly,separator=%x20)',
    `--remotes=*/${name}`,
    ...(isHere ? [target.ref] : []),
    ...(target.expected === null ? [] : ['--not', target.expected]),
  ];
  const listed = (await runGit(repository, args, { maxBytes: 16 * 1024 * 1024 })).toString('utf8');
  const found = listed
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, ...runs]) => runs.includes(runId))
    .flatMap(([commit = '']) => commit);
  const sealed = found.map((commit) => ({ commit, target: target.ref }));
  const landings = await findLandings(repository, sealed);
  return found.find((_, at) => landings[at]?.state === 'landed');
}

/** Returns a message about included local changes, and a hint for following a commit without losing any of them. */
async function followIncluded(
  repository: Repository,
  { started, included, openScratch }: WaitingHere & { readonly included: IncludedChanges },
  commit: string,
): Promise<{ readonly words: string; readonly hint: string }> {
  const { base, target, candidate } = started;
  const at = `the ${localChangesAt(included.paths, 'that you included ')}`;
  const paths = new Set(included.paths);
  const differs =
    candidate === undefined ||
    (await changedEntries(repository, commit, candidate.tree)).some(({ path }) => paths.has(path));
  const expected = target.expected ?? undefined;
  const keep =
    'keep your files and bring the branch here: `git stash --include-untracked`, `git pull --ff-only`, `git stash pop`';
  if (differs) return { words: `; it does not hold exactly ${at}`, hint: keep };
  const dirty = await dirtyPaths(repository, touchedBy(included.paths));
  const scratch = await openScratch();
  const now = await readLocalContent(repository, scratch, base.tree, { expected }, dirty).catch(
    (fault: unknown) => {
      if (isWritError(fault, 'WORKTREE_DIRTY')) return undefined;
      throw fault;
    },
  );
  if (now?.digest !== included.digest)
    return { words: `; it holds ${at}, and files there were edited since`, hint: keep };
  const named = included.paths.map(quoted).join(' ');
  const isLong = included.paths.length > 20 || included.paths.some((path) => /[^\x20-\x7e]/.test(path));
  const isTracked = dirty.every(({ reason }) => reason === 'modified');
  const drop = isTracked && !isLong ? `git checkout HEAD -- ${named} && git pull --ff-only` : undefined;
  return {
    words: `; it holds ${at}`,
    hint:
      drop === undefined
        ? 'bring the branch here: `git stash --include-untracked`, `git pull --ff-only`; the stash holds nothing new at these paths'
        : `bring the branch here: \`${drop}\``,
  };
}

/** As a word of a POSIX shell. */
function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
