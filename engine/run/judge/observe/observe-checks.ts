import { canonicalize } from '../../../../core/base/canonical.ts';
import { sha256Hex } from '../../../../core/base/digest.ts';
import { WritError } from '../../../../core/base/errors.ts';
import type { PatchFile, PatchSet } from '../../../../core/contract/patch-set.ts';
import { type CarriedPath, type CheckObservation, stageNames } from '../../../../core/contract/stage.ts';
import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import { isData, isOfTests, takesLines } from '../../../../readers/source/test-paths.ts';
import { readBlobs } from '../../../vcs/blobs.ts';
import type { Attempt } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import type { ObservedChecks } from '../../state/observed-checks.ts';
import { withSteps } from '../../state/with-steps.ts';
import { type OpeningWorkspace, openingWorkspace } from '../open-workspace.ts';
import { askCheck, type CheckTask } from '../run-check.ts';
import { demandsTracer } from '../second-run/policy-judge.ts';
import { type CheckFootprint, judgesSeen, toCheckFootprint } from './check-footprint.ts';
import { changesOutcome, filledTree } from './fill-check.ts';
import { findFills } from './find-fills.ts';
import { footprintKey, isTouched, keptFootprintsOf } from './footprint-key.ts';
import { type JudgedTree, judgedTree } from './judged-tree.ts';
import { notReached, traceCheck } from './trace-check.ts';

const maxUnprepared = 5_000;

/**
 * Finds out what each check looks for and does not find, if the patch makes paths exist, and which data it reads, if
 * the patch changes data outside of directories of tests (docs/decisions/0022-footprints.md): from a kept footprint, by
 * a run under a tracer, or by a run with the new files laid over the policy commit. None of these runs gives a verdict.
 * TRACER_UNAVAILABLE if the policy commit demands a tracer and none works.
 */
export async function observeChecks(attempt: Attempt): Promise<ObservedChecks | undefined> {
  const added = addedFiles(attempt.patch);
  const tasks = tasksOf(attempt);
  const outputs = attempt.ground.config.workspace.prepare
    .filter(({ inputs }) => isTouched(attempt.patch, inputs))
    .flatMap((step) => step.outputs);
  const canFill = added.length > 0 || outputs.length > 0;
  if (
    !(canFill || changesData(attempt.patch)) ||
    tasks.length === 0 ||
    attempt.patch.baseCommit === undefined
  )
    return undefined;
  const steps = attempt.means.steps.under('observed');
  return steps.once('checks', async () => {
    // A run that is resumed in another sandbox observes again.
    const within = withSteps(attempt, steps.under(attempt.ground.sandbox.name));
    const workspace = openingWorkspace(within, 0);
    const tree = await judgedTree(within);
    const { sandbox } = attempt.ground;
    const tracer = (await sandbox.probeTracer?.()) ?? {
      works: false,
      reason: `sandbox \`${sandbox.name}\` cannot trace`,
    };
    if (tracer.works) return traceAll(within, workspace, tree, tasks, added, outputs);
    const { reason = 'the tracer does not work' } = tracer;
    if (!canFill) return undefined;
    if (demandsTracer(attempt))
      throw new WritError('TRACER_UNAVAILABLE', {
        message: `\`[rules.judge-changed] observe = "required"\` needs a tracer: ${reason}`,
        detail: { sandbox: sandbox.name },
      });
    return fillAll(within, workspace, tree, tasks, added, reason);
  });
}

async function traceAll(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  tree: JudgedTree,
  tasks: readonly CheckTask[],
  added: readonly PatchFile[],
  outputs: readonly string[],
): Promise<ObservedChecks> {
  const kept = await keptFootprintsOf(attempt);
  const side = tree.isBase ? workspace.base : workspace.over(tree.tree, 'own');
  const { workspace: root } = attempt.ground.sandbox.pathsInside({ workspace: '', reports: '' });
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
        checks[check.id] = { by: 'none', reason: traced.reason };
        continue;
      }
      footprint = toCheckFootprint(traced.footprint, root, tree.entries);
      await kept.keep(key, tree.entries, footprint);
    }
    footprints.set(check.id, footprint);
    const bytes = Buffer.from(canonicalize(redactTexts(footprint, policyOf(attempt))));
    const digest = sha256Hex(bytes);
    await attempt.means.record.put([[`footprints/${digest}.json`, bytes]]);
    checks[check.id] = { by: 'trace', footprint: digest };
  }
  const isBelow = (path: string): boolean => outputs.some((output) => path.startsWith(`${output}/`));
  const unprepared = [...footprints].map(([id, { missing }]) => [
    id,
    missing.filter(isBelow).slice(0, maxUnprepared),
  ]);
  const filled: Record<string, string> = {};
  const reads: Record<string, readonly string[]> = {};
  const paths = added.map(({ path }) => path);
  const changed = new Set(attempt.patch.files.map(({ path, oldPath = path }) => oldPath));
  const gone = attempt.patch.files.flatMap(({ changeType, path, oldPath = path }) =>
    changeType === 'delete' || (changeType === 'rename' && oldPath !== path) ? [oldPath] : [],
  );
  for (const { check } of tasks) {
    const footprint = footprints.get(check.id);
    if (footprint === undefined) continue;
    reads[check.id] = footprint.read.filter((path) => changed.has(path));
    if (paths.length === 0) continue;
    const texts = [...(await judgingTexts(attempt, tree, footprint)), check.command ?? ''];
    for (const [path, how] of findFills(paths, gone, footprint, texts))
      filled[path] ??= `check \`${check.id}\`, which ${how}`;
  }
  return { filled, unprepared: Object.fromEntries(unprepared), reads, checks };
}

/** Runs each check at the policy commit, and again with the new files of the patch that are no tests. */
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
    const one = await askCheck(attempt, plain, { ...task, received: received.plain });
    const reason = notReached(check, one);
    if (reason !== undefined) {
      checks[check.id] = { by: 'none', reason: `${noTracer}; at the policy commit ${reason}` };
      continue;
    }
    const other = await askCheck(attempt, laid, { ...task, received: received.laid });
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

/** Scripts, configuration and manifests that judge, as far as they were reached or seen. */
async function judgingTexts(
  { means: { scratch } }: Attempt,
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

/** Whether a patch takes something from data that tests may read. In directories of tests, the path says so. */
function changesData({ files }: Pick<PatchSet, 'files'>): boolean {
  return files.some((file) => {
    const { path, oldPath = path } = file;
    return takesLines(file) && isData(oldPath) && !isOfTests(oldPath);
  });
}
