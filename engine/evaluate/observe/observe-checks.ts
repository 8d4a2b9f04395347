/* Observes which files the checks look for, and finds new files that would change their result. */
import { posix } from 'node:path';
import { canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { isWritError, WritError } from '../../../core/base/errors.ts';
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { PatchFile, PatchSet } from '../../../core/interfaces/patch-set.ts';
import { type CarriedPath, type CheckObservation, stageNames } from '../../../core/interfaces/stage.ts';
import { describesProduct, isTooling } from '../../../readers/judges/rules.ts';
import { followLinks } from '../../../readers/judges/tree.ts';
import { isOfTests, mayChangeTests } from '../../../readers/source/test-paths.ts';
import { readBlobs } from '../../../workspace/git/read-objects.ts';
import { type TreeLeaf, writeTree } from '../../../workspace/git/write-tree.ts';
import type { PrepareStep } from '../../config/workspace-section.ts';
import type { ObservedChecks } from '../../state/checks.ts';
import { type Attempt, policyOf, withSteps } from '../../state/open-run.ts';
import { isBelow } from '../../state/open-scanners.ts';
import { recordOutcome, redactOutcome } from '../../state/outcome.ts';
import { type OpeningWorkspace, openingWorkspace, type WorkspaceSide } from '../open-workspace.ts';
import { type CheckTask, runCheckOf } from '../run-check.ts';
import { demandsTracer } from '../second-run/policy-inputs.ts';
import { ofPrepare } from '../second-run/verification-inputs.ts';
import {
  type CheckFootprint,
  existingPaths,
  footprintKey,
  type JudgedTree,
  judgedTree,
  judgesSeen,
  keptFootprintsOf,
  toCheckFootprint,
} from './footprint-key.ts';
import { inputsOf, touchedSteps } from './observe-prepare.ts';
import { notReached, traceCheck } from './trace-check.ts';

const maxUnprepared = 5_000;

/**
 * Observes each check (`docs/decisions/0022-footprints.md`). If the patch adds paths, it finds the paths that the
 * check looks for and does not find. If the patch changes data outside test directories, it finds the data that the
 * check reads. The source is a kept footprint, a traced run, or a run with the new files added to the policy commit.
 * None of these runs gives a verdict. Throws TRACER_UNAVAILABLE if the policy commit requires a tracer and none
 * works.
 */
export async function observeChecks(attempt: Attempt): Promise<ObservedChecks | undefined> {
  const added = addedFiles(attempt.patch);
  const tasks = tasksOf(attempt);
  const canFill = added.length > 0 || touchedSteps(attempt).length > 0;
  if (
    !(canFill || changesData(attempt.patch)) ||
    tasks.length === 0 ||
    attempt.patch.baseCommit === undefined
  )
    return undefined;
  const steps = attempt.services.steps.under('observed');
  const find = async (): Promise<ObservedChecks | undefined> => {
    // A run that is resumed in another sandbox observes again.
    const within = withSteps(attempt, steps.under(attempt.environment.sandbox.name));
    const workspace = openingWorkspace(within, 0);
    const tree = await judgedTree(within);
    const { sandbox } = attempt.environment;
    const tracer = (await sandbox.probeTracer?.()) ?? {
      works: false,
      reason: `sandbox \`${sandbox.name}\` cannot trace`,
    };
    if (tracer.works) return traceAll(within, workspace, tree, tasks, added);
    const { reason = 'the tracer does not work' } = tracer;
    if (!canFill) return undefined;
    if (demandsTracer(attempt))
      throw new WritError('TRACER_UNAVAILABLE', {
        message: `\`[rules.judge-changed] observe = "required"\` needs a tracer: ${reason}`,
        detail: { sandbox: sandbox.name },
      });
    return fillAll(within, workspace, tree, tasks, added, reason);
  };
  return recordOutcome(withSteps(attempt, steps), 'checks', find);
}

async function traceAll(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  tree: JudgedTree,
  tasks: readonly CheckTask[],
  added: readonly PatchFile[],
): Promise<ObservedChecks> {
  const kept = await keptFootprintsOf(attempt);
  const side = tree.isBase ? workspace.base : workspace.over(tree.tree, 'own');
  const { workspace: root } = attempt.environment.sandbox.pathsInside({ workspace: '', reports: '' });
  const steps = await observeSteps(attempt, side);
  const prepare: string[] = [];
  for (const { footprint } of steps) if (footprint) prepare.push(await keepFootprint(attempt, footprint));
  const how = prepare.length === 0 ? {} : { prepare };
  const footprints = new Map<string, CheckFootprint>();
  const checks: Record<string, CheckObservation> = {};
  let received: readonly CarriedPath[] = [];
  for (const task of tasks) {
    const { check } = task;
    const key = await footprintKey(attempt, tree, check);
    let footprint = await kept.find(key, tree.entries);
    if (footprint === undefined) {
      const traced = await traceCheck(attempt, side, { ...task, received });
      received = traced.carried?.handedOn ?? received;
      if ('reason' in traced) {
        checks[check.id] = { by: 'none', reason: traced.reason, ...how };
        continue;
      }
      footprint = toCheckFootprint(traced.footprint, root, tree.entries, tree.links);
      await kept.keep(key, tree.entries, footprint);
    }
    footprints.set(check.id, footprint);
    const digest = await keepFootprint(attempt, footprint);
    checks[check.id] = { by: 'trace', footprint: digest, ...how };
  }
  const outputs = steps.flatMap(({ step }) => step.outputs);
  const missingOf = (footprint: CheckFootprint | undefined): readonly string[] =>
    footprint?.missing.filter((path) => isBelow(path, outputs)).slice(0, maxUnprepared) ?? [];
  const before = steps.flatMap(({ footprint }) => missingOf(footprint));
  const unprepared: Record<string, readonly string[]> = {};
  const filled: Record<string, string> = {};
  const reads: Record<string, readonly string[]> = {};
  const changed = new Set(attempt.patch.files.map(({ path, oldPath = path }) => oldPath));
  const gone = attempt.patch.files.flatMap(({ changeType, path, oldPath = path }) =>
    changeType === 'delete' || (changeType === 'rename' && oldPath !== path) ? [oldPath] : [],
  );
  const fill = async (paths: readonly string[], by: string, command: string, footprint: CheckFootprint) => {
    if (paths.length === 0) return;
    const texts = [...(await judgingTexts(attempt, tree, footprint)), command];
    for (const [path, how] of findFills(paths, gone, footprint, texts))
      filled[path] ??= `${by}, which ${how}`;
  };
  const paths = added.map(({ path }) => path);
  /** Changed links, if a file below their targets was read. */
  const readThrough = ({ opened }: CheckFootprint): readonly string[] =>
    [...changed].filter((path) => {
      const places = tree.links.has(path) ? [followLinks(path, tree.links).path] : [];
      return opened.some((one) => isBelow(one, places));
    });
  for (const { check } of tasks) {
    const footprint = footprints.get(check.id);
    if (footprint || before.length > 0) unprepared[check.id] = [...missingOf(footprint), ...before];
    if (footprint === undefined) continue;
    reads[check.id] = [...footprint.opened.filter((path) => changed.has(path)), ...readThrough(footprint)];
    await fill(paths, `check \`${check.id}\``, check.command ?? '', footprint);
  }
  for (const { step, footprint } of steps) {
    if (footprint === undefined) continue;
    const shown = paths.filter((path) => isBelow(path, inputsOf(step)));
    const command = step.argv.join(' ');
    const by = `${ofPrepare} \`${command}\``;
    await fill(shown, by, command, footprint);
    for (const path of newTooling(shown, footprint.listed, tree.entries))
      filled[path] ??= `${by}, which lists its directory`;
  }
  return { filled, unprepared, reads, checks, ...seenSteps(tree, steps) };
}

/** A step of `prepare`, and what it did with files at the policy commit. */
interface SeenStep {
  readonly step: PrepareStep;
  readonly footprint?: CheckFootprint;
  readonly reason?: string;
}

/** Observes the `prepare` steps that the patch may affect, in the tree that supplies the verification inputs. */
async function observeSteps(attempt: Attempt, side: WorkspaceSide): Promise<readonly SeenStep[]> {
  const steps = touchedSteps(attempt);
  if (steps.length === 0) return [];
  try {
    await (await side.open([])).close();
  } catch (fault) {
    if (!isWritError(fault, 'WORKSPACE_PREPARE_FAILED')) throw fault;
    return steps.map((step) => ({ step, reason: 'directories cannot be prepared at the policy commit' }));
  }
  const { observed } = await side.found();
  return steps.map((step) => ({ step, ...(observed.get(step) ?? { reason: 'it did not run' }) }));
}

/** New tooling in directories that were listed: a step of `prepare` may use whatever it finds there. */
function newTooling(
  added: readonly string[],
  listed: readonly string[],
  entries: JudgedTree['entries'],
): readonly string[] {
  const tooling = added.filter(isTooling);
  if (tooling.length === 0) return [];
  const isThere = existingPaths(entries);
  const directories = new Set(listed);
  return tooling.filter((path) => {
    let directory = posix.dirname(path);
    while (directory !== '.' && !isThere(directory)) directory = posix.dirname(directory);
    return directories.has(directory === '.' ? '' : directory);
  });
}

/**
 * Verification inputs among the inputs of steps, if traces of all steps show them. They count only for the base tree.
 */
function seenSteps(
  { isBase, entries }: JudgedTree,
  steps: readonly SeenStep[],
): Pick<ObservedChecks, 'prepared' | 'unseenSteps'> {
  const unseen = steps.flatMap(({ step, reason }) =>
    reason === undefined ? [] : [[step.argv.join(' '), reason]],
  );
  if (unseen.length > 0) return { unseenSteps: Object.fromEntries(unseen) };
  if (!isBase || steps.length === 0) return {};
  const seen = steps.flatMap(({ footprint }) => (footprint ? judgesSeen(footprint, entries) : []));
  return { prepared: [...new Set(seen.map(({ path }) => path))].sort() };
}

/** Puts a footprint into the record of the run, under the digest that it returns. */
async function keepFootprint(attempt: Attempt, footprint: CheckFootprint): Promise<string> {
  const bytes = Buffer.from(canonicalize(redactOutcome(footprint, policyOf(attempt))));
  const digest = sha256Hex(bytes);
  await attempt.services.record.put([[`footprints/${digest}.json`, bytes]]);
  return digest;
}

/** Runs each check at the policy commit, and again with the patch's new files that are not tests. */
async function fillAll(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  tree: JudgedTree,
  tasks: readonly CheckTask[],
  added: readonly PatchFile[],
  noTracer: string,
): Promise<ObservedChecks> {
  const files = added.filter(({ path }) => !isOfTests(path));
  const checks: Record<string, CheckObservation> = {};
  const filled: Record<string, string> = {};
  if (files.length === 0) {
    const none = { by: 'none', reason: `${noTracer}; the change adds no file but tests` } as const;
    return { filled, unprepared: {}, checks: Object.fromEntries(tasks.map(({ check }) => [check.id, none])) };
  }
  const plain = tree.isBase ? workspace.base : workspace.over(tree.tree, 'own');
  const laid = workspace.over(await filledTree(attempt, tree.tree, files), 'own');
  let received = { plain: [] as readonly CarriedPath[], laid: [] as readonly CarriedPath[] };
  for (const task of tasks) {
    const { check } = task;
    const one = await runCheckOf(attempt, plain, { ...task, received: received.plain });
    const reason = notReached(check, one);
    if (reason !== undefined) {
      checks[check.id] = { by: 'none', reason: `${noTracer}; at the policy commit ${reason}` };
      continue;
    }
    const other = await runCheckOf(attempt, laid, { ...task, received: received.laid });
    received = {
      plain: one.carried?.handedOn ?? received.plain,
      laid: other.carried?.handedOn ?? received.laid,
    };
    checks[check.id] = { by: 'filling', reason: noTracer };
    if (changesOutcome(one, other))
      for (const { path } of files)
        filled[path] ??= `check \`${check.id}\`, which comes to something else with it`;
  }
  return { filled, unprepared: {}, checks };
}

/** Returns scripts, configuration and manifests that are verification inputs and were reached or observed. */
async function judgingTexts(
  { services: { scratch } }: Attempt,
  { tree, entries, reach }: JudgedTree,
  footprint: CheckFootprint,
): Promise<readonly string[]> {
  const reached = reach.files.filter(({ role }) => role !== 'test').map(({ path }) => path);
  const seen = judgesSeen(footprint, entries).map(({ path }) => path);
  const texts = await readBlobs(scratch, tree, [...new Set([...reached, ...seen])]);
  return [...texts.values()].map((bytes) => bytes.toString('utf8'));
}

/** Checks that run a command, in the order in which they run. */
function tasksOf({ identity: { contract } }: Pick<Attempt, 'identity'>): readonly CheckTask[] {
  const { verificationPlan } = contract.effective.acceptance;
  return stageNames.flatMap((stage) =>
    verificationPlan[`${stage}Checks`].flatMap((check, index) =>
      (check.command ?? '') === '' || check.kind === 'policy'
        ? []
        : [{ stage, check, index, earlier: [], implied: [], received: [] }],
    ),
  );
}

/** Files of the candidate at paths that the base does not have. */
function addedFiles({ files }: Pick<PatchSet, 'files'>): readonly PatchFile[] {
  return files.filter(
    ({ changeType, path, oldPath }) =>
      changeType !== 'delete' && (changeType === 'add' || (oldPath !== undefined && oldPath !== path)),
  );
}

/** Returns whether a patch changes data outside test directories. In those, the path itself identifies the data. */
function changesData({ files }: Pick<PatchSet, 'files'>): boolean {
  return files.some(mayChangeTests);
}

/** Times, sizes with a unit, fractions, dates, and addresses: they differ between two runs of the same program. */
const varying =
  /\d{1,20}(?:[.,:]\d{1,20}){1,10}(?: ?[a-z\u00b5]{1,3}\b)?|\d{1,20} ?(?:ns|\u00b5s|us|ms|s|sec|seconds|min|[kKMG]i?B)\b|\b0x[0-9a-f]{4,20}\b|\b[0-9a-f]{12,64}\b|\d{4}-\d\d-\d\d[T ]?/g;

/** Returns the policy commit's tree with files of the patch added. */
async function filledTree(
  { services: { scratch } }: Pick<Attempt, 'services'>,
  tree: string,
  files: readonly PatchFile[],
): Promise<string> {
  const leaves = new Map<string, TreeLeaf>();
  for (const { path, newMode, newBlob } of files)
    if (newMode !== undefined && newBlob !== undefined) leaves.set(path, { mode: newMode, object: newBlob });
  return writeTree({ from: scratch, to: scratch }, leaves, tree);
}

/**
 * Returns whether the added files change a check's result. A change is another exit code, other failed or skipped
 * tests, or a missing test, report or line of output. New output does not count, because a new package adds lines.
 */
export function changesOutcome(plain: CheckOutcome, filled: CheckOutcome): boolean {
  const [was, is] = [plain, filled].map(comparable) as [Comparable, Comparable];
  if (canonicalize(was.same) !== canonicalize(is.same)) return true;
  const left = new Map<string, number>();
  for (const line of is.lines) left.set(line, (left.get(line) ?? 0) + 1);
  return was.lines.some((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count === 0;
  });
}

interface Comparable {
  readonly same: readonly (number | string | boolean | null)[];
  readonly lines: readonly string[];
}

function comparable({ result, tests, executed, reports }: CheckOutcome): Comparable {
  const lines = (bytes: Uint8Array, place: string): readonly string[] =>
    Buffer.from(bytes)
      .toString('utf8')
      .replace(varying, '#')
      .split('\n')
      .map((line) => `${place}: ${line}`);
  const names = [...(executed?.names ?? [])].map((name) => `test: ${name}`);
  const skipped = [...(executed?.skipped ?? []), ...(executed?.emptyFiles ?? [])].sort();
  const ended = result?.exitCode ?? result?.signal ?? null;
  return {
    same: [ended, result?.timedOut ?? false, tests?.failed ?? -1, tests?.skipped ?? -1, ...skipped],
    lines:
      executed === undefined || executed.isPrinted
        ? [
            ...(result === undefined ? [] : lines(result.combined.bytes, 'output')),
            ...reports.flatMap(({ name, bytes }) => lines(bytes, name)),
          ]
        : [...names, ...reports.map(({ name }) => `report: ${name}`)],
  };
}

/** A directory name resolves only to one of these files: a program that looks up the name opens no other file in it. */
const indexFile = /^(?:index\.\w+|package\.json|__init__\.py|__main__\.py)$/;

/**
 * New paths that a check looked for in vain, or would find by a listing, each with how. A module has moved if the file
 * that had its name was read and is `gone` (`a.py` to `a/__init__.py`): its name was found. Pure.
 */
export function findFills(
  added: readonly string[],
  gone: readonly string[],
  footprint: Pick<CheckFootprint, 'missing' | 'listed' | 'read'>,
  texts: readonly string[],
): readonly (readonly [path: string, how: string])[] {
  const missing = new Set(footprint.missing);
  const listed = new Set(footprint.listed);
  const read = new Set(footprint.read);
  const moved = new Set(gone.filter((path) => read.has(path)).map(moduleName));
  return added.flatMap((path): readonly (readonly [string, string])[] => {
    if (isListedOption(path, listed))
      return [[path, 'lists its directory and may take its name as an option']];
    if (moved.has(moduleName(path))) return [];
    const isIndex = indexFile.test(posix.basename(path));
    if (missing.has(path) || (isIndex && missing.has(posix.dirname(path))))
      return [[path, 'looked for it in vain']];
    return isListedAndNamed(path, listed, texts) ? [[path, 'lists its directory and names it']] : [];
  });
}

/** A glob of a command hands on such a name: `--test-name-pattern=none.test.js`. */
function isListedOption(path: string, listed: ReadonlySet<string>): boolean {
  const parts = path.split('/');
  return parts.some((part, at) => part.startsWith('-') && listed.has(parts.slice(0, at).join('/')));
}

function moduleName(path: string): string {
  return path.replace(/\/(?:index|__init__)(?=\.\w+$)/, '');
}

/** Compiled files belong to the product, even if a wildcard names them. */
const compiled = /\.(?:c|cc|cpp|cxx|h|hh|hpp|go|rs|java|kt|swift|cs|zig)$/;

/**
 * Returns whether a program that lists a directory, instead of looking up a name, would use a new file. Examples are
 * a Python import, a shell glob and `$(wildcard …)`. The check listed its directory. A verification input also names
 * the file as a word (a Python module without its ending), or by a glob of its ending. Tests and product descriptions
 * do not count.
 */
function isListedAndNamed(path: string, listed: ReadonlySet<string>, texts: readonly string[]): boolean {
  const directory = posix.dirname(path);
  if (!listed.has(directory === '.' ? '' : directory) || isOfTests(path) || describesProduct(path))
    return false;
  const { name, base, ext } = posix.parse(path);
  const word = ext === '.py' ? name : base;
  return texts.some(
    (text) => hasWord(text, word) || (ext !== '' && !compiled.test(ext) && hasGlob(text, ext)),
  );
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isWordAt(text, at - 1) && !isWordAt(text, at + word.length)) return true;
  return false;
}

function isWordAt(text: string, at: number): boolean {
  return /[\w-]/.test(text[at] ?? '');
}

function hasGlob(text: string, ext: string): boolean {
  for (let at = text.indexOf(`*${ext}`); at >= 0; at = text.indexOf(`*${ext}`, at + 1))
    if (!isWordAt(text, at + 1 + ext.length)) return true;
  return false;
}
