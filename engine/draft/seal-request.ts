/* The change that `writ seal` takes (the index, the last commit or a range), and the spec that it builds for it. */
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { normalisePattern } from '../../core/base/glob.ts';
import { printable } from '../../core/base/printable.ts';
import type { IntentSpec, RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { findSecurityPath } from '../../spec/secret-words.ts';
import { findRun } from '../../store/record/list-records.ts';
import type { RunStore, Stores } from '../../store/stores.ts';
import { rangeCommits } from '../../workspace/git/commit-log.ts';
import { gitLine, runGit } from '../../workspace/git/git.ts';
import { parseCommit } from '../../workspace/git/git-object.ts';
import { type ChangedEntry, changedEntries } from '../../workspace/git/held-index.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { emptyTreeOf, type Repository } from '../../workspace/git/repository.ts';
import { type Base, readHead, resolveBase } from '../../workspace/git/resolve-commit.ts';
import { requireReplaceable } from '../../workspace/git/target.ts';
import { maxPatchBytes, plainDiffFlags } from '../../workspace/patch/normalise.ts';
import { requireListable, resolveRange } from '../../workspace/patch/read-patch.ts';
import { parseConfig } from '../config/config.ts';
import type { SealingForms } from '../config/sections.ts';
import { readRun } from '../record/read-run.ts';
import type { ChangeSource } from '../state/run-request.ts';
import { changeTypeOf, type SpecWords, specFromWords, summaryOf } from './spec-from-words.ts';

/** A change that exists in the repository already. */
export interface SealableChange {
  readonly source: ChangeSource;
  /** Where it starts: its commit is the parent of the sealed commit, and supplies the policy. */
  readonly base: Base;
  /** Name of the checked-out branch, without `refs/heads/`. */
  readonly branch: string;
  readonly paths: readonly string[];
  /** The message of the commit that is replaced. */
  readonly message?: string;
  /** The runs that the commit to be replaced names. */
  readonly runIds?: readonly string[];
  /** The digests of specs (SHA-256, hex) that it names. */
  readonly specDigests?: readonly string[];
}

/** Files in the git directory while an operation of several steps is not finished. */
const unfinished: readonly (readonly [file: string, operation: string, hint?: string])[] = [
  [
    'MERGE_HEAD',
    'a merge',
    'finish it with git; a merge is evaluated as a range: `writ run SPEC --range A..B`',
  ],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
];

/**
 * The difference between HEAD and the index, or the file `index` in its place, which is relative to the root of the
 * working tree. PATCH_EMPTY, WORKTREE_DIRTY for unmerged paths, and as `branchHere`.
 */
export async function stagedChange(repository: Repository, index?: string): Promise<SealableChange> {
  const env = index ? { GIT_INDEX_FILE: resolve(repository.root, index) } : {};
  const branch = await branchHere(repository);
  for (const [
    file,
    operation,
    hint = 'finish it with git, then seal its commit: `writ seal --commit`',
  ] of unfinished) {
    if (!(await lstat(join(repository.gitDir, file)).catch(() => undefined))) continue;
    throw new WritError('WORKTREE_DIRTY', {
      message: `${operation} is not finished, so writ cannot seal a commit now`,
      hints: [hint],
    });
  }
  const base = await resolveBase(repository, 'HEAD');
  const from = base.commit ?? emptyTreeOf(repository);
  // Of a path that `git add -N` announces, nothing is staged yet.
  const diff = [
    'diff-index',
    '--cached',
    '--ita-invisible-in-index',
    '--no-renames',
    '--ignore-submodules=none',
  ];
  const form = ['--patch', '--binary', '--full-index', ...plainDiffFlags];
  const [listed, bytes] = await Promise.all(
    [['-z', '--name-status'], form].map((how) =>
      runGit(repository, [...diff, ...how, from], { maxBytes: maxPatchBytes, env }),
    ) as [Promise<Buffer>, Promise<Buffer>],
  );
  const fields = listed.toString('utf8').split('\0').slice(0, -1);
  const paths = fields.filter((_, at) => at % 2 === 1);
  const unmerged = paths.filter((_, at) => fields[2 * at] === 'U');
  if (unmerged.length > 0) {
    throw new WritError('WORKTREE_DIRTY', {
      message: `\`${unmerged[0]}\` has merge conflicts`,
      detail: { paths: unmerged.slice(0, 20) },
    });
  }
  if (paths.length === 0) {
    throw new WritError('PATCH_EMPTY', {
      message: 'nothing is staged',
      hints: ['stage the change with `git add PATH…`, or seal the last commit with `writ seal --commit`'],
    });
  }
  return { source: { kind: 'patch', bytes }, base, branch, paths };
}

/**
 * The commit at HEAD. TARGET_MOVED, OBJECTS_MISSING if its parent is cut away, COMMIT_PUBLISHED if it cannot be
 * replaced, and as `branchHere`.
 */
export async function lastCommit(repository: Repository): Promise<SealableChange> {
  const branch = await branchHere(repository);
  const { commit = 'HEAD' } = await readHead(repository);
  const [shown, raw] = await Promise.all([
    gitLine(repository, ['show', '--no-patch', '--format=%P%n%B', '--end-of-options', commit]),
    runGit(repository, ['cat-file', 'commit', commit]),
  ]);
  const [reached = '', ...message] = shown.trimEnd().split('\n');
  // As the commit says; git shows none where a shallow clone ends.
  const [parent, ...others] = parseCommit(raw)?.parents ?? [];
  if (parent === undefined || others.length > 0) {
    throw new WritError('TARGET_MOVED', {
      message: `the last commit has ${parent === undefined ? 'no parent' : 'several parents'}: writ seals only a commit with exactly one parent`,
      hints: ['to evaluate a range of commits: `writ run SPEC --range A..B`'],
    });
  }
  if (reached !== parent)
    throw new WritError('OBJECTS_MISSING', {
      message: `this clone is shallow: it lacks \`${parent.slice(0, 12)}\`, the parent of the last commit`,
      detail: { commit, parent },
      hints: ['fetch it: `git fetch --deepen 1`, then seal again'],
    });
  const base = await resolveBase(repository, parent);
  await requireReplaceable(repository, { ref: `refs/heads/${branch}`, expected: commit }, base, commit);
  const changed = await changedEntries(repository, parent, commit);
  const paths = changed.map(({ path }: ChangedEntry) => path);
  const source = { kind: 'range', range: `${parent}..${commit}` } as const;
  const named = (line: RegExp) => [
    ...new Set(message.slice(0, maxLines).flatMap((text) => line.exec(text)?.[1] ?? [])),
  ];
  const [runIds, specDigests] = [named(runLine), named(digestLine)];
  return { source, base, branch, paths, message: message.join('\n').trim(), runIds, specDigests };
}

/** Lines of the message, in whatever paragraph: a squash has several. */
const runLine = /^Run-Id: ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\s*$/;
const digestLine = /^Intentspec-Digest: (?:sha256:)?([\da-f]{64})\s*$/;
const maxLines = 2000;

/** The commits of `A..B`, for `onto`, else for the branch that is checked out. PATCH_EMPTY, INPUT_TOO_LARGE. */
export async function rangeChange(
  repository: Repository,
  given: string,
  onto: string | undefined,
): Promise<SealableChange> {
  const branch = onto ?? (await branchHere(repository));
  const range = await resolveRange(repository, given);
  await requireListable(repository, range);
  const { base: start, from, tip } = range;
  const base = await resolveBase(repository, `refs/heads/${branch}`);
  const changed = await changedEntries(repository, start.tree, tip);
  if (changed.length === 0)
    throw new WritError('PATCH_EMPTY', { message: `\`${printable(given)}\` changes no file` });
  const [first, ...others] = await rangeCommits(repository, start.commit ?? from, tip);
  return {
    source: { kind: 'range', range: `${from}..${tip}` },
    base,
    branch,
    paths: changed.map(({ path }) => path),
    ...(first === undefined || others.length > 0 ? {} : { message: first.message.trim() }),
  };
}

/** The branch that is checked out. REF_NOT_FOUND if HEAD is detached. */
async function branchHere(repository: Repository): Promise<string> {
  const { branch } = await readHead(repository);
  if (branch?.startsWith('refs/heads/')) return branch.slice('refs/heads/'.length);
  throw new WritError('REF_NOT_FOUND', {
    message: 'no branch is checked out, so no branch can receive the sealed commit',
    hints: ['create a branch here: `git switch -c NAME`'],
  });
}

/** The spec of a run, as the run recorded it. */
export interface RecordedSpec {
  readonly runId: string;
  readonly refs: RunStore['refs'];
  readonly bytes: Uint8Array;
  readonly document: IntentSpec;
}

/**
 * The spec of a run. RUN_NOT_FOUND, OBJECT_CORRUPT if it is not the one that the run evaluated, or that the commit
 * names beside the run: whoever may push to a remote may have replaced the record.
 */
export async function recordedSpec(
  stores: Stores,
  repository: Repository,
  wanted: string,
  { runIds = [], specDigests = [] }: Pick<SealableChange, 'runIds' | 'specDigests'> = {},
): Promise<RecordedSpec> {
  const { store, runId } = await findRun(stores, repository, systemClock, wanted);
  const { spec } = await readRun(repository, store, runId);
  const bytes = await store.objects.read(store.refs.run(runId), 'spec.json');
  const read = bytes && readIntentSpec(bytes);
  if (!bytes || !read?.ok || read.digest !== spec.digest)
    throw new WritError('OBJECT_CORRUPT', {
      message: `run \`${runId}\` has another spec than the one that its record names`,
      detail: { run_id: runId, expected: spec.digest },
      hints: ['`writ fsck` looks for damage'],
    });
  if (runIds.includes(runId) && specDigests.length > 0 && !specDigests.includes(spec.digest))
    throw new WritError('OBJECT_CORRUPT', {
      message: `the last commit names run \`${runId}\` and a spec that differs from the one in the record of the run`,
      detail: { run_id: runId, expected: specDigests.join(', '), found: spec.digest },
      hints: ['someone changed the record: compare it with `git log refs/ai/runs/…` of another clone'],
    });
  return { runId, refs: store.refs, bytes, document: read.document };
}

/** The specs of the runs that a commit names. As `recordedSpec`. */
export async function specsOfRewritten(
  stores: Stores,
  repository: Repository,
  change: SealableChange,
): Promise<readonly RecordedSpec[]> {
  const found: RecordedSpec[] = [];
  for (const runId of change.runIds ?? [])
    try {
      found.push(await recordedSpec(stores, repository, runId, change));
    } catch (fault) {
      if (!isWritError(fault, 'RUN_NOT_FOUND')) throw fault;
      throw new WritError('RUN_NOT_FOUND', {
        message: `the last commit names run ${runId}, whose record is not in this repository`,
        detail: { run_id: runId },
        hints: ['get it with `writ fetch`', removeRunLine],
      });
    }
  return found;
}

/** Hint for a commit that names a run and is another change. */
export const removeRunLine =
  'if the commit is no longer that change: remove the line `Run-Id` from its message (`git commit --amend`)';

/** Whether two specs demand the same of a change, whatever they say about it. Pure. */
export function demandsAlike(one: IntentSpec, other: IntentSpec): boolean {
  const demands = ({ metadata: _, intent: __, lifecycle: ___, extensions: ____, ...spec }: IntentSpec) => {
    const { successCriteria: _____, ...acceptance } = spec.acceptance;
    const { rationale: ______, ...risk } = spec.risk;
    return canonicalDigest({ ...spec, acceptance, risk });
  };
  return demands(one) === demands(other);
}

/** What the policy commit asks of the risk of a spec. */
export interface RiskPolicy {
  readonly leastRisk: RiskLevel;
  /** The first changed path that is security code. */
  readonly securityPath?: string;
}

/** Reads `[seal]` and `[security_code]` of the policy commit. CONFIG_INVALID. */
export async function readRiskPolicy(
  repository: Repository,
  { base, paths }: { readonly base: Pick<Base, 'tree'>; readonly paths: readonly string[] },
  forms: SealingForms,
): Promise<RiskPolicy> {
  return riskPolicy(await readBlob(repository, base.tree, '.writ/config.toml'), paths, forms);
}

/** The same of the bytes of the configuration; `undefined`: there is none. */
export function riskPolicy(
  bytes: Uint8Array | undefined,
  paths: readonly string[],
  forms: SealingForms,
): RiskPolicy {
  const { seal, securityCode } = parseConfig(bytes, forms);
  const securityPath = findSecurityPath(paths, securityCode);
  return { ...seal, ...(securityPath === undefined ? {} : { securityPath }) };
}

/** What a person decides about a spec of `writ seal`, or accepts as proposed. */
export type SealWords = Omit<SpecWords, 'baseRef' | 'changeType' | 'inScope' | 'touchHints'>;

const maxHints = 100;

/** The spec of a change that exists: policy from the profile of its risk, checks and words as given. Pure. */
export function sealSpec({ branch, paths }: SealableChange, words: SealWords): IntentSpec {
  const isListable =
    paths.length <= maxHints &&
    paths.every((path) => path.length <= 512 && normalisePattern(path.trim()) === path);
  return specFromWords({
    ...words,
    baseRef: branch,
    changeType: changeTypeOf(summaryOf(words.message), paths),
    inScope: ['what the change touches, and nothing else'],
    ...(isListable ? { touchHints: { files: paths } } : {}),
  });
}
