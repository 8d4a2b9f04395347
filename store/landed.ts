/* Decides whether sealed commits have landed on the branch that counts. */
import { printable } from '../core/base/printable.ts';
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
 * `landed`: the ref that counts has the commit. `sealed`: it does not. `unknown`: this clone cannot decide, so the
 * record applies.
 */
export type Landing =
  | { readonly state: 'landed' }
  /** `fetch`: the commands that bring the missing branches or commits; absent if objects were lost. */
  | { readonly state: 'unknown'; readonly fetch?: string }
  /** `ref` is the full name of the ref that counts; `isGone`: this clone has neither it nor the target. */
  | { readonly state: 'sealed'; readonly ref: string; readonly isGone?: true };

const maxConfigBytes = 256 * 1024;
const heads = 'refs/heads/';
const remotes = 'refs/remotes/';

/**
 * Decides from the refs of this clone, without a network. The ref that counts is the remote-tracking branch of the
 * target: of `[landing] remote` (`unknown` until this clone has fetched from it), else its upstream. A target without
 * either counts itself. If the branch is gone (merged and deleted), every branch counts. `known`: the commits that
 * exist in this clone, if the caller has looked.
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
  let place: Promise<OwnPlace> | undefined;
  const placeOf = (): Promise<OwnPlace> => {
    place ??= ownPlace(repository, branches);
    return place;
  };
  const found = new Map<string, Landing>();
  for (const target of targets) {
    const commits = [...new Set(onBranch.filter((one) => one.target === target).map(({ commit }) => commit))];
    const counting = await refsThatCount(branches, target, configured.get(target), placeOf);
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
  /** The commands that bring branches which may hold a commit that this clone lacks. */
  readonly fetch?: readonly string[];
  readonly isGone?: true;
  /** This clone has no branch that counts. */
  readonly isUndecided?: true;
}

async function refsThatCount(
  branches: ReadonlyMap<string, Branch>,
  target: string,
  configured: string | undefined,
  placeOf: () => Promise<OwnPlace>,
): Promise<CountingRefs> {
  const branch = branches.get(target);
  const upstream = branch?.upstream.startsWith(remotes) ? branch : undefined;
  const isKnown = configured !== undefined && tipsBelow(branches, `${remotes}${configured}/`).length > 0;
  if (configured !== undefined && !isKnown) {
    // Its record applies: what has landed is not reopened by a misspelled or missing remote.
    const name = printable(configured);
    const isAdded = (await placeOf()).names.includes(configured);
    const fetch = [...(isAdded ? [] : [`git remote add ${name} URL`]), `git fetch ${name}`];
    return {
      ref: `${remotes}${configured}/${target.slice(heads.length)}`,
      tips: [],
      fetch,
      isUndecided: true,
    };
  }
  const remote = configured ?? upstream?.remote;
  if (remote !== undefined) {
    const ref =
      upstream?.remote === remote ? upstream.upstream : `${remotes}${remote}/${target.slice(heads.length)}`;
    const tip = branches.get(ref)?.tip;
    return { ref, tips: tip === undefined ? tipsBelow(branches, `${remotes}${remote}/`) : [tip] };
  }
  if (branch) return { ref: target, tips: [branch.tip] };
  const tracking = trackingOf(branches, target);
  const tip = branches.get(tracking ?? '')?.tip;
  if (tracking !== undefined && tip !== undefined) return { ref: tracking, tips: [tip] };
  const { below, fetch } = await placeOf();
  const ref = `${below}${target.slice(heads.length)}`;
  return { ref, tips: tipsBelow(branches, 'refs/'), fetch, isGone: true };
}

interface OwnPlace {
  /** The start of the full name that a branch has here: below `origin`, else the first remote, else local. */
  readonly below: string;
  /** The commands that bring the branches that are not fetched; empty if this clone has all. */
  readonly fetch: readonly string[];
  /** The remotes of this clone. */
  readonly names: readonly string[];
}

/** Where a branch of any name would be in this clone: of `origin` if there is one, else of every remote. */
async function ownPlace(repository: Repository, branches: ReadonlyMap<string, Branch>): Promise<OwnPlace> {
  const args = ['config', '-z', '--get-regexp', '^remote\\..*\\.(url|fetch)$'];
  const { stdout } = await askGit(repository, args, { maxBytes: maxConfigBytes });
  const fetched = new Map<string, readonly string[]>();
  for (const entry of stdout.toString('utf8').split('\0')) {
    const [, name, key, value = ''] = /^remote\.(.*)\.(url|fetch)\n(.*)$/s.exec(entry) ?? [];
    if (name === undefined) continue;
    fetched.set(name, [...(fetched.get(name) ?? []), ...(key === 'fetch' ? [value.replace(/^\+/, '')] : [])]);
  }
  const names = fetched.has('origin') ? ['origin'] : [...fetched.keys()];
  const partial = names.filter((name) => !fetched.get(name)?.includes(`${heads}*:${remotes}${name}/*`));
  const isMissing = names.some((name) => tipsBelow(branches, `${remotes}${name}/`).length === 0);
  return {
    names: [...fetched.keys()],
    below: names[0] === undefined ? heads : `${remotes}${names[0]}/`,
    fetch: [
      ...partial.map((name) => `git remote set-branches ${printable(name)} '*'`),
      ...(partial.length > 0 || isMissing ? ['git fetch --all'] : []),
    ],
  };
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
  { tips, fetch = [], isUndecided, ...counting }: CountingRefs,
  commits: readonly string[],
  present: ReadonlySet<string>,
): Promise<readonly (readonly [commit: string, landing: Landing])[]> {
  const here = commits.filter((commit) => present.has(commit));
  const outside = await commitsOutside(repository, here, tips);
  const isShort = isShallow(repository);
  const missing = [...fetch, ...(isShort ? ['git fetch --unshallow'] : [])];
  const absent: Landing =
    missing.length > 0
      ? { state: 'unknown', fetch: missing.map((line) => `\`${line}\``).join(', ') }
      : here.length < commits.length && (await hasWholeHistory(repository, tips))
        ? { state: 'sealed', ...counting }
        : { state: 'unknown' };
  return commits.map((commit) => {
    if (isUndecided === true || !present.has(commit)) return [commit, absent];
    if (outside === undefined) return [commit, { state: 'unknown' }];
    return [commit, outside.has(commit) ? { state: 'sealed', ...counting } : { state: 'landed' }];
  });
}

/** The commits that no tip reaches; `undefined` if git cannot follow the history. */
export async function commitsOutside(
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

/** True if git can follow the tips to their ends, so that a missing commit cannot be part of their history. */
async function hasWholeHistory(repository: Repository, tips: readonly string[]): Promise<boolean> {
  if (tips.length === 0) return true;
  const { code } = await askGit(repository, ['rev-list', '--count', '--stdin'], {
    input: `${tips.join('\n')}\n`,
  });
  return code === 0;
}
