/* Decides whether sealed commits have landed on the branch that counts. */
import { landingOf } from '../engine/config/sections.ts';
import { askGit, isGitFault, maxListBytes, runGit } from '../workspace/git/git.ts';
import { presentCommits, readSmall } from '../workspace/git/read-objects.ts';
import { isShallow, type Repository } from '../workspace/git/repository.ts';
import { sealingRecords } from './record/sealed-commit.ts';
import type { RunStore } from './stores.ts';

export interface SealedCommit {
  readonly commit: string;
  readonly target: string;
}

/**
 * `landed`: the ref that counts has the commit. `sealed`: it does not. `unknown`: this clone cannot decide (a shallow
 * clone, or one without the branch), so the record applies.
 */
export type Landing =
  | { readonly state: 'landed' | 'unknown' }
  /** `ref` is the full name of the ref that counts; `isGone`: this clone has neither it nor the target. */
  | { readonly state: 'sealed'; readonly ref: string; readonly isGone?: true };

const maxConfigBytes = 256 * 1024;
const heads = 'refs/heads/';
const remotes = 'refs/remotes/';

/**
 * Decides from the refs of this clone, without a network. The ref that counts is the remote-tracking branch of the
 * target: of `[landing] remote` if this clone has fetched from it, else its upstream. A target without either counts
 * itself. If the branch is gone (merged and deleted), every branch counts. `known`: the commits that exist in this
 * clone, if the caller has looked.
 */
export async function findLandings(
  repository: Repository,
  sealed: readonly SealedCommit[],
  known?: ReadonlySet<string>,
): Promise<readonly Landing[]> {
  const onBranch = sealed.filter(({ target }) => target.startsWith(heads));
  if (onBranch.length === 0) return sealed.map(() => ({ state: 'landed' }));
  const branches = await readBranches(repository);
  const targets = [...new Set(onBranch.map(({ target }) => target))];
  const configured = await readLandingRemotes(repository, branches, targets);
  const present =
    known ??
    (await presentCommits(
      repository,
      onBranch.map(({ commit }) => commit),
    ));
  let followed: Promise<string | undefined> | undefined;
  const place = (): Promise<string | undefined> => {
    followed ??= followedPlace(repository, branches);
    return followed;
  };
  const found = new Map<string, Landing>();
  for (const target of targets) {
    const commits = [...new Set(onBranch.filter((one) => one.target === target).map(({ commit }) => commit))];
    const counting = await refsThatCount(branches, target, configured.get(target), place);
    const landings = await landingsOn(repository, counting, commits, present);
    for (const [commit, landing] of landings) found.set(`${target} ${commit}`, landing);
  }
  return sealed.map(({ target, commit }) => found.get(`${target} ${commit}`) ?? { state: 'landed' });
}

/**
 * False for a run whose sealed commit has not landed; if clones sealed it apart, the commit of one record is enough.
 * True for a run that sealed nothing.
 */
export async function hasLanded(repository: Repository, store: RunStore, runId: string): Promise<boolean> {
  const sealed = await sealingRecords(store, runId);
  const landings = await findLandings(repository, sealed);
  return sealed.length === 0 || landings.some(({ state }) => state !== 'sealed');
}

/**
 * `[landing] remote` of the checked-out commit, and whether this clone has that remote; `undefined` if the file names
 * none. An unknown remote is ignored, so `writ doctor` reports it.
 */
export async function findLandingRemote(
  repository: Repository,
): Promise<
  { readonly remote: string; readonly isKnown: boolean; readonly known: readonly string[] } | undefined
> {
  const name = 'HEAD:.writ/config.toml';
  const { remote = '' } = landingOf((await readSmall(repository, [name], maxConfigBytes)).get(name));
  if (remote === '') return undefined;
  const listed = await runGit(repository, ['remote'], { maxBytes: maxConfigBytes });
  const known = listed.toString('utf8').split('\n').slice(0, -1);
  return { remote, isKnown: known.includes(remote), known };
}

/** `main`, `origin/main`. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes)\//, '');
}

interface Branch {
  readonly tip: string;
  readonly upstream: string;
  readonly remote: string;
}

async function readBranches(repository: Repository): Promise<ReadonlyMap<string, Branch>> {
  const format = '%(refname) %(objectname) %(upstream) %(upstream:remotename)';
  const listed = await runGit(repository, ['for-each-ref', `--format=${format}`, heads, remotes], {
    maxBytes: maxListBytes,
  });
  return new Map(
    listed
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [ref = '', tip = '', upstream = '', remote = ''] = line.split(' ');
        return [ref, { tip, upstream, remote }];
      }),
  );
}

/** `[landing] remote` at the tip of each target. */
async function readLandingRemotes(
  repository: Repository,
  branches: ReadonlyMap<string, Branch>,
  targets: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const nameOf = (target: string): string | undefined => {
    const tip = (branches.get(target) ?? branches.get(trackingOf(branches, target) ?? ''))?.tip;
    return tip && `${tip}:.writ/config.toml`;
  };
  const names = targets.flatMap((target) => nameOf(target) ?? []);
  const files = await readSmall(repository, names, maxConfigBytes);
  return new Map(targets.map((target) => [target, landingOf(files.get(nameOf(target) ?? '')).remote]));
}

interface CountingRefs {
  readonly ref: string;
  readonly tips: readonly string[];
  /** Whether a commit that this clone lacks cannot be on that branch. */
  readonly isHere: boolean;
  readonly isGone?: true;
}

async function refsThatCount(
  branches: ReadonlyMap<string, Branch>,
  target: string,
  configured: string | undefined,
  place: () => Promise<string | undefined>,
): Promise<CountingRefs> {
  const branch = branches.get(target);
  const upstream = branch?.upstream.startsWith(remotes) ? branch : undefined;
  // A misspelled or missing remote must not reopen what has landed.
  const isKnown = configured !== undefined && tipsBelow(branches, `${remotes}${configured}/`).length > 0;
  const remote = isKnown ? configured : upstream?.remote;
  if (remote !== undefined) {
    const ref =
      upstream?.remote === remote ? upstream.upstream : `${remotes}${remote}/${target.slice(heads.length)}`;
    const tip = branches.get(ref)?.tip;
    return {
      ref,
      tips: tip === undefined ? tipsBelow(branches, `${remotes}${remote}/`) : [tip],
      isHere: true,
    };
  }
  if (branch) return { ref: target, tips: [branch.tip], isHere: true };
  const tracking = trackingOf(branches, target);
  const tip = branches.get(tracking ?? '')?.tip;
  if (tracking !== undefined && tip !== undefined) return { ref: tracking, tips: [tip], isHere: true };
  const followed = await place();
  const ref = `${followed ?? heads}${target.slice(heads.length)}`;
  return { ref, tips: tipsBelow(branches, 'refs/'), isHere: followed !== undefined, isGone: true };
}

/**
 * Where a branch of any name would be, if this clone has fetched all branches: below `origin`, else below the only
 * remote; without a remote below `refs/heads/`. `undefined` if some may be missing here.
 */
async function followedPlace(
  repository: Repository,
  branches: ReadonlyMap<string, Branch>,
): Promise<string | undefined> {
  const args = ['config', '-z', '--get-regexp', '^remote\\..*\\.(url|fetch)$'];
  const { stdout } = await askGit(repository, args, { maxBytes: maxConfigBytes });
  const settings = stdout
    .toString('utf8')
    .split('\0')
    .flatMap((entry) => {
      const [, name, key, value = ''] = /^remote\.(.*)\.(url|fetch)\n(.*)$/s.exec(entry) ?? [];
      return name === undefined ? [] : [{ name, key, value }];
    });
  const names = new Set(settings.map(({ name }) => name));
  if (names.size === 0) return heads;
  const name = names.has('origin') ? 'origin' : names.size === 1 ? [...names][0] : undefined;
  const below = `${remotes}${name}/`;
  const fetchesAll = settings.some(
    (one) =>
      one.name === name && one.key === 'fetch' && one.value.replace(/^\+/, '') === `${heads}*:${below}*`,
  );
  return fetchesAll && tipsBelow(branches, below).length > 0 ? below : undefined;
}

/** The remote-tracking branch of a target without a local branch: of `origin`, else of the only remote. */
function trackingOf(branches: ReadonlyMap<string, Branch>, target: string): string | undefined {
  const name = target.slice(heads.length);
  const fits = [...branches.keys()].filter((ref) => ref.startsWith(remotes) && ref.endsWith(`/${name}`));
  return fits.find((ref) => ref === `${remotes}origin/${name}`) ?? (fits.length === 1 ? fits[0] : undefined);
}

function tipsBelow(branches: ReadonlyMap<string, Branch>, stem: string): readonly string[] {
  return [...new Set([...branches].flatMap(([ref, { tip }]) => (ref.startsWith(stem) ? [tip] : [])))];
}

async function landingsOn(
  repository: Repository,
  { tips, isHere, ...counting }: CountingRefs,
  commits: readonly string[],
  present: ReadonlySet<string>,
): Promise<readonly (readonly [commit: string, landing: Landing])[]> {
  const here = commits.filter((commit) => present.has(commit));
  const outside = await commitsOutside(repository, here, tips);
  const absent: Landing =
    here.length < commits.length && isHere && (await hasWholeHistory(repository, tips))
      ? { state: 'sealed', ...counting }
      : { state: 'unknown' };
  return commits.map((commit) => {
    if (!present.has(commit)) return [commit, absent];
    if (outside === undefined) return [commit, { state: 'unknown' }];
    return [commit, outside.has(commit) ? { state: 'sealed', ...counting } : { state: 'landed' }];
  });
}

/** The commits that no tip reaches; `undefined` if git cannot follow the history. */
async function commitsOutside(
  repository: Repository,
  commits: readonly string[],
  tips: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  if (commits.length === 0) return new Set();
  try {
    const input = [...commits, ...tips.map((tip) => `^${tip}`), ''].join('\n');
    const listed = await runGit(repository, ['rev-list', '--stdin'], { input, maxBytes: maxListBytes });
    const reached = new Set(listed.toString('latin1').split('\n'));
    return new Set(commits.filter((commit) => reached.has(commit)));
  } catch (fault) {
    if (isGitFault(fault)) return undefined;
    throw fault;
  }
}

/** True if the history of the tips is complete, so that a missing commit cannot be part of it. */
async function hasWholeHistory(repository: Repository, tips: readonly string[]): Promise<boolean> {
  if (isShallow(repository)) return false;
  if (tips.length === 0) return true;
  const { code } = await askGit(repository, ['rev-list', '--count', '--stdin'], {
    input: `${tips.join('\n')}\n`,
  });
  return code === 0;
}
