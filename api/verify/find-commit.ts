/* Finds the commits that a verification is about: a single one or a range. */
import { commitIdOf, parseCommit } from '../../attest/verify/evidence-source.ts';
import { nothingThere, oneCheck, refuted, type VerifyReport } from '../../attest/verify/report.ts';
import { requireOwnBytes } from '../../attest/verify/verify-evidence.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { askGit, gitFailed } from '../../workspace/git/git.ts';
import { effectsOn, hashTree, readReplacements } from '../../workspace/git/hash-tree.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import { isObjectId, type Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';

/**
 * Returns the commit checked out in the current repository. `undefined` outside a repository and on an unborn branch.
 */
export async function headCommit(open: () => Promise<Repository>): Promise<string | undefined> {
  try {
    return (await readHead(await open())).commit;
  } catch (fault) {
    if (isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  }
}

/**
 * Returns the first id that is a commit of the current repository; outside a repository, none. Rejects a commit that
 * plain git shows differently (`replaced`). Rejects one with a commit, tree or file stored under an id that does not
 * match its bytes (`mismatch`).
 */
export async function findCommit(
  open: () => Promise<Repository>,
  ids: readonly string[],
): Promise<string | undefined> {
  try {
    const repository = await open();
    const objects = await readObjects(repository, ids);
    const commit = objects.find((object) => object?.type === 'commit');
    if (commit === undefined) return undefined;
    const reckoned = commitIdOf(commit.bytes, commit.id);
    if (reckoned !== commit.id) throw refuted('mismatch', { expected: commit.id, found: reckoned });
    const { tree } = parseCommit(commit.bytes) ?? {};
    if (tree === undefined) throw refuted('malformed', { found: 'not a commit object' });
    requireOwnBytes(await hashTree(repository, tree));
    const found = await effectsOn(repository, await readReplacements(repository), {
      target: commit.id,
      commit: commit.id,
      raw: commit.bytes,
    });
    if (found.length > 0) throw refuted('replaced', { found });
    return commit.id;
  } catch (fault) {
    if (isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  }
}

/** Most commits of a range, and most commits that are read to show where it begins. */
const maxCommits = 10_000;

/**
 * Returns both ends of `A..B`; a missing end is `HEAD`. `undefined` if the target is not a range. USAGE for `A...B`.
 */
export function rangeEnds(target: string): { readonly from: string; readonly to: string } | undefined {
  const at = target.indexOf('..');
  if (at < 0) return undefined;
  const [from, to] = [target.slice(0, at), target.slice(at + 2)];
  if (!to.startsWith('.') && !to.includes('..')) return { from: from || 'HEAD', to: to || 'HEAD' };
  throw new WritError('USAGE', {
    message: `\`${printable(target)}\` is no range of commits: expected \`A..B\``,
    detail: { command: 'verify', found: printable(target) },
    hints: ['`A..B` is every commit that `B` holds and `A` does not'],
  });
}

/**
 * The ids of the commits that `to` holds and `from` does not, parents first, or the report why they cannot be listed:
 * there is none, the history is shallow, or a commit before the range has other bytes than its id names, so that a
 * commit of the range may be hidden. More than 10,000 are INPUT_TOO_LARGE.
 */
export async function commitsBetween(
  repository: Repository,
  range: string,
  from: string,
  to: string,
): Promise<readonly string[] | VerifyReport> {
  const incomplete = nothingThere(
    `the history of \`${printable(range)}\` is not here as a whole: \`git fetch --unshallow\` brings it`,
  );
  const ids = await reachable(repository, range, [to], [from], ['--topo-order', '--reverse']);
  if (ids === undefined) return incomplete;
  if (ids.length === 0) return nothingThere(`\`${printable(range)}\` holds no commit`);
  const inside = new Set(ids);
  const commits = await readObjects(repository, ids);
  const parents = commits.flatMap((object) => (object && parseCommit(object.bytes)?.parents) ?? []);
  const before = [...new Set(parents)].filter((id) => !inside.has(id) && id !== from);
  if (before.length === 0) return ids;
  // Every parent outside of the range has to be one that `from` really holds.
  const between = await reachable(repository, range, [from], before, []);
  if (between === undefined) return incomplete;
  const objects = await readObjects(repository, [from, ...between]);
  for (const [n, id] of [from, ...between].entries()) {
    const object = objects[n];
    const found = object && commitIdOf(object.bytes, id);
    if (found !== undefined && found !== id)
      return oneCheck({
        id: 'range',
        status: 'failed',
        code: 'mismatch',
        detail: { expected: id, found },
      });
  }
  return ids;
}

/**
 * Returns the commits reachable from `from` and not from `without`. `undefined` if one names a parent that is missing
 * here. The shallow boundary (`.git/shallow`) is ignored, because commits behind it may have arrived with another
 * ref. A partial clone would fetch the parents behind it, so there the boundary counts; the caller compares the parents
 * that commits name.
 */
async function reachable(
  repository: Repository,
  range: string,
  from: readonly string[],
  without: readonly string[],
  options: readonly string[],
): Promise<readonly string[] | undefined> {
  const args = ['rev-list', `--max-count=${maxCommits + 1}`, ...options, '--end-of-options', ...from];
  const asked = [...args, ...without.map((id) => `^${id}`)];
  const first = await askGit(repository, asked, { env: { GIT_SHALLOW_FILE: '' } });
  const isPromised =
    first.code !== 0 && isWritError(gitFailed(asked, first.code, first.stderr), 'OBJECTS_MISSING');
  const { code, stdout, stderr } = isPromised ? await askGit(repository, asked) : first;
  if (code !== 0 && /Could not read [0-9a-f]{40}|bad object/.test(stderr)) return undefined;
  if (code !== 0) throw gitFailed(asked, code, stderr);
  const ids = stdout.toString('utf8').split('\n').filter(isObjectId);
  if (ids.length <= maxCommits) return ids;
  throw new WritError('INPUT_TOO_LARGE', {
    message: `\`${printable(range)}\` holds more than ${maxCommits} commits`,
    detail: { found: printable(range) },
  });
}
