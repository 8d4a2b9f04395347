/* The stored footprints of checks, and the key under which a footprint may be reused. */
import { statSync } from 'node:fs';
import { canonicalDigest, canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import type { JudgeReach, PatchSet } from '../../../core/interfaces/patch-set.ts';
import { isTooling } from '../../../readers/judges/rules.ts';
import { followLinks, readLinks } from '../../../readers/judges/tree.ts';
import { isOfHelpers, isOfTests } from '../../../readers/source/test-paths.ts';
import type { Footprint } from '../../../readers/trace/read-trace.ts';
import { readBlobs } from '../../../workspace/git/read-objects.ts';
import { listTree, type TreeEntry } from '../../../workspace/git/tree.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import type { Attempt } from '../../state/open-run.ts';
import { isBelow } from '../../state/open-scanners.ts';
import { findVerificationInputs } from '../second-run/verification-inputs.ts';
import { type VouchedCache, vouchedCacheOf } from '../workspace-dependencies/shared-directory.ts';

/** Footprints that runs of this repository left on this machine. */
export async function keptFootprintsOf(
  attempt: Pick<Attempt, 'environment' | 'services'>,
): Promise<KeptFootprints> {
  return openKeptFootprints(await vouchedCacheOf(attempt, { folder: 'footprints', voucher: 'footprint' }));
}

/**
 * Digest of everything that a footprint depends on. It covers the command, the sandbox, this machine's programs, the
 * inputs of `prepare` and of shared directories, and the verification inputs. Product files are not included.
 */
export async function footprintKey(
  { environment, identity }: Pick<Attempt, 'environment' | 'identity'>,
  { entries, reach, judges }: JudgedTree,
  { kind, command = '', expectedExitCode }: EffectiveCheck,
): Promise<string> {
  const { workspace, checks } = environment.config;
  const inputs = untrackedInputs(workspace);
  const { verificationPlan } = identity.contract.effective.acceptance;
  const others = Object.values(verificationPlan)
    .flat()
    .map((one) => one.command ?? '');
  return canonicalDigest([
    'writ-footprint-v5',
    [kind, command, expectedExitCode],
    // Later checks see the carried paths of earlier ones.
    workspace.carry.length > 0 ? [...workspace.carry, ...others] : [],
    ...machineState(environment, reach),
    JSON.stringify([workspace.prepare, workspace.share, [...checks.reports]]),
    digestOf(entries.filter(({ path }) => isBelow(path, inputs))),
    judges,
  ]);
}

/** The sandbox and the programs of this machine. */
export function machineState(
  { sandbox }: Pick<Attempt['environment'], 'sandbox'>,
  { programs }: JudgedTree['reach'],
): readonly (readonly unknown[])[] {
  return [
    [sandbox.name, process.platform, process.arch, process.version, process.env.PATH ?? ''],
    programs.map(programState),
  ];
}

/** Paths of the tree from which untracked directories are built, or that define their content. */
export function untrackedInputs({
  lockfile,
  lockfiles,
  prepare,
}: Attempt['environment']['config']['workspace']): readonly string[] {
  return [lockfile, ...lockfiles.values(), ...prepare.flatMap((step) => [step.lockfile, ...step.inputs])];
}

/** Whether a patch changes one of these paths, or something below it. */
export function isTouched({ files }: Pick<PatchSet, 'files'>, places: readonly string[]): boolean {
  return files.some(({ path, oldPath = path }) => isBelow(path, places) || isBelow(oldPath, places));
}

/** An upgrade changes size or time of a program. */
function programState(name: string): readonly (string | number)[] {
  const path = /^[\w.+-]+$/.test(name) ? findProgram(name, process.env.PATH ?? '') : undefined;
  const status = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return [name, path ?? '', status?.size ?? 0, Math.trunc(status?.mtimeMs ?? 0)];
}

type Entry = Pick<TreeEntry, 'path' | 'mode' | 'object'>;

/** Footprints of this repository, each under the digest of what it depends on. */
interface KeptFootprints {
  /**
   * Returns the footprint under a key. Returns `undefined` if none exists, if another user wrote it, or if it does
   * not fit the tree. It does not fit if a path that was missing exists there, or a verification input differs.
   */
  find(key: string, entries: readonly Entry[]): Promise<CheckFootprint | undefined>;
  keep(key: string, entries: readonly Entry[], footprint: CheckFootprint): Promise<void>;
  /** Whether there is none since what is under the key fails under the tracer. */
  hasFailed(key: string): Promise<boolean>;
  keepFailed(key: string): Promise<void>;
}

/** Footprints in a cache. */
export function openKeptFootprints(cache: VouchedCache): KeptFootprints {
  return {
    async find(key, entries) {
      const said = await cache.find(key);
      if (said === undefined) return undefined;
      const { judges, ...footprint } = JSON.parse(said) as CheckFootprint & { readonly judges: string };
      const isThere = existingPaths(entries);
      const fits = judges === digestOf(decisive(footprint, entries)) && !footprint.missing.some(isThere);
      return fits ? footprint : undefined;
    },
    keep: (key, entries, footprint) =>
      cache.keep(key, canonicalize({ ...footprint, judges: digestOf(decisive(footprint, entries)) })),
    hasFailed: async (key) => (await cache.find(failedKey(key))) !== undefined,
    keepFailed: (key) => cache.keep(failedKey(key), 'failed'),
  };
}

/** Files that may decide what a check looks for: verification inputs, and helpers of its tests. */
function decisive(footprint: CheckFootprint, entries: readonly Entry[]): readonly Entry[] {
  const helpers = new Set(footprint.read.filter(isOfHelpers));
  return [...judgesSeen(footprint, entries), ...entries.filter(({ path }) => helpers.has(path))];
}

function failedKey(key: string): string {
  return sha256Hex(`failed ${key}`);
}

/** Digest of what files hold, for keys. */
export function digestOf(entries: readonly Entry[]): string {
  return sha256Hex(canonicalize(entries.map(({ path, mode, object }) => [path, mode, object])));
}

/** Whether a tree has a file or directory at a path. */
export function existingPaths(entries: readonly Entry[]): (path: string) => boolean {
  const paths = new Set<string>();
  for (const { path } of entries)
    for (let at = path.length; at > 0 && !paths.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      paths.add(path.slice(0, at));
  return (path) => paths.has(path);
}

/** What a check did with files, as the record of a run keeps it. Paths are relative to its workspace, '' its root. */
export interface CheckFootprint {
  readonly schema: 'urn:writ:footprint:v1';
  readonly missing: readonly string[];
  readonly listed: readonly string[];
  /** Files of the tree. */
  readonly read: readonly string[];
  /** Of those, the files whose content was open to the check: data of its tests. */
  readonly opened: readonly string[];
  /** Files of the tree, and absolute paths of programs outside the workspace. */
  readonly executed: readonly string[];
}

/**
 * Removes paths outside the workspace from a footprint, and reads of paths that are not in the tree. A path through
 * `links` of the tree counts under both names.
 */
export function toCheckFootprint(
  { missing, listed, read, opened, executed }: Omit<Footprint, 'named' | 'aliased' | 'unread'>,
  root: string,
  entries: readonly Pick<TreeEntry, 'path'>[],
  links: ReadonlyMap<string, string> = new Map(),
): CheckFootprint {
  const tracked = new Set(entries.map(({ path }) => path));
  const names = (path: string): readonly string[] =>
    below(root, path).flatMap((own) => [...new Set([own, followLinks(own, links).path])]);
  const within = (paths: readonly string[]): readonly string[] =>
    [...new Set(paths.flatMap(names))].filter((path) => path !== '.git' && !path.startsWith('.git/'));
  return {
    schema: 'urn:writ:footprint:v1',
    missing: within(missing),
    listed: within(listed),
    read: within(read).filter((path) => tracked.has(path)),
    opened: within(opened).filter((path) => tracked.has(path)),
    executed: executed.flatMap((path) => {
      const own = names(path);
      return own.length === 0 ? [path] : own.filter((name) => tracked.has(name));
    }),
  };
}

/**
 * Returns the tree's verification inputs that the footprint shows: programs that were executed, and tooling that was
 * read.
 */
export function judgesSeen<T extends Pick<TreeEntry, 'path'>>(
  { read, executed }: CheckFootprint,
  entries: readonly T[],
): readonly T[] {
  const seen = new Set([...executed, ...read.filter(isTooling)]);
  return entries.filter(({ path }) => seen.has(path));
}

function below(root: string, path: string): readonly string[] {
  if (path === root) return [''];
  return path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : [];
}

/** The tree in which checks are observed, with its verification inputs. */
export interface JudgedTree {
  readonly tree: string;
  /** Whether it is the tree of the base. */
  readonly isBase: boolean;
  readonly entries: readonly TreeEntry[];
  /** Targets of its symbolic links. */
  readonly links: ReadonlyMap<string, string>;
  readonly reach: JudgeReach;
  /** Digest of the verification inputs: files that the commands reach, and tests. */
  readonly judges: string;
}

/** Returns the base; if the policy commit has other verification inputs, returns the policy commit. */
export async function judgedTree(attempt: Attempt): Promise<JudgedTree> {
  const { patch, environment } = attempt;
  const base = await verifyingAt(attempt, patch.baseTree);
  if (environment.policy.tree === patch.baseTree) return base;
  const policy = await verifyingAt(attempt, environment.policy.tree);
  return policy.judges === base.judges ? base : policy;
}

/** Returns one tree with its verification inputs; `seen` as in `findVerificationInputs`. */
export async function verifyingAt(
  { identity, services, patch, environment }: Attempt,
  tree: string,
  seen?: readonly string[],
): Promise<JudgedTree> {
  const entries = await listTree(services.scratch, tree);
  const reach = await findVerificationInputs(
    services.scratch,
    environment.repository.root,
    tree,
    identity.contract.effective,
    environment.config.workspace.prepare,
    seen,
  );
  const reached = new Set(reach.files.map(({ path }) => path));
  const judging = entries.filter(({ path }) => reached.has(path) || isOfTests(path));
  const links = await readLinks(entries, (paths) => readBlobs(services.scratch, tree, paths));
  return { tree, isBase: tree === patch.baseTree, entries, links, reach, judges: digestOf(judging) };
}
