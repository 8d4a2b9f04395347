/* Drafts the change that undoes a sealed run or one of its Tasks. */
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Actor, Check, IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { RunStore } from '../../store/stores.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Base, treeOf } from '../../workspace/git/resolve-commit.ts';
import { inUndoScratch, stepsUndoing, treeWithout, type Undoing } from '../../workspace/patch/undo.ts';
import { type PlacedPart, placeParts } from '../record/read-run.ts';

/** The patch that undoes one Task of a sealed run, or why there is none. */
export type TaskUndoing =
  | { readonly kind: 'patch'; readonly undoing: Undoing }
  /** `unchanged`: the Task changed no files. `nothing`: none of its changes remain. */
  | { readonly kind: 'unchanged' | 'nothing' | 'untold' | 'gone' }
  | { readonly kind: 'refuted'; readonly why: string }
  /** Later Tasks of the run changed the same places. */
  | { readonly kind: 'built-upon'; readonly paths: readonly string[]; readonly tasks: readonly string[] };

/** A Task of a run that committed. */
interface SealedTask {
  readonly runId: string;
  readonly commit: string;
  readonly task: string;
}

/**
 * Returns the reverse of the changes of one Task among several, applied at `tip`. It reverts only the Task's own
 * steps and merges with later changes of other Tasks and people. It first compares the recorded parts with the
 * commit.
 */
export async function taskUndoing(
  repository: Repository,
  store: RunStore,
  { runId, commit, task }: SealedTask,
  tip: Base,
): Promise<TaskUndoing> {
  return inUndoScratch(repository, async (scratch): Promise<TaskUndoing> => {
    const laid = await placeParts(scratch, store, runId, commit);
    if (laid.kind !== 'laid') return laid;
    const { parts } = laid;
    const own = parts.filter(({ part }) => part.task === task);
    if (own.length === 0) return { kind: 'unchanged' };
    const undoing = await stepsUndoing(scratch, own, tip);
    if (undoing === undefined) return { kind: 'nothing' };
    if (undoing.conflicts === undefined) return { kind: 'patch', undoing };
    const { conflicts } = await treeWithout(scratch, own, await treeOf(scratch, commit));
    // If the Task conflicts even at its own commit, later Tasks of the run changed the same places.
    if (conflicts === undefined) return { kind: 'patch', undoing };
    return { kind: 'built-upon', paths: conflicts, tasks: tasksUpon(parts, task, conflicts) };
  });
}

/** Tasks that changed one of these files after the Task had begun to. */
function tasksUpon(parts: readonly PlacedPart[], task: string, paths: readonly string[]): readonly string[] {
  const first = parts.findIndex(({ part }) => part.task === task);
  const wanted = new Set(paths);
  const found = parts
    .slice(first)
    .filter(({ part }) =>
      part.files.some(({ path, old_path: from = path }) => wanted.has(path) || wanted.has(from)),
    );
  return [...new Set(found.map(({ part }) => part.task))].filter((one) => one !== task);
}

/** Keys of the Tasks of a run's last plan that change something, in its order. OBJECT_CORRUPT. */
export async function workTasksOf({ objects, refs }: RunStore, runId: string): Promise<readonly string[]> {
  const ref = refs.run(runId);
  const paths = (await objects.list(ref)).map(({ path }) => path).filter((path) => path.startsWith('tasks/'));
  const tasks = [...(await objects.readMany(ref, paths)).values()].map((bytes) => parseObject('task', bytes));
  return tasks
    .filter(({ kind }) => kind === 'implementation')
    .map(({ number = 0 }) => number)
    .sort((a, b) => a - b)
    .map((number) => `task-${number}`);
}

/** Inputs of a spec that undoes a run. */
interface UndoWords {
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly createdBy: Actor;
  readonly baseRef: string;
  readonly runId: string;
  /** Set if one Task of several is undone. */
  readonly task?: string;
  /** Files of the patch that undoes the change. */
  readonly files: readonly Pick<PatchFile, 'path' | 'oldPath' | 'changeType'>[];
}

const maxSummary = 256;
/** Objectives that name files: tests that go in any other are refused. */
const maxNamed = 500;

/**
 * Builds a spec that undoes a run's commit, from the run's spec: same scope, checks and policy, with a new id. Its
 * objectives name the files that lose content, tests included, because removing tests must be an objective. Checks
 * that name a deleted file are dropped, unless no fast check would be left. Throws INTENTSPEC_MALFORMED.
 */
export function undoContract(specBytes: Uint8Array, words: UndoWords): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as IntentSpec;
  const { metadata, intent, acceptance, artifacts, lifecycle } = document;
  const { id, createdAt, createdBy, baseRef, runId, task, files } = words;
  const who = task === undefined ? `run ${runId}` : `task ${task} of run ${runId}`;
  const gone = files.filter(({ changeType }) => changeType === 'delete').map(({ path }) => path);
  const dropped = namingOf(acceptance.verificationPlan.fastChecks, gone);
  const isBare = acceptance.verificationPlan.fastChecks.every((check) => dropped.includes(check));
  const keeps = (check: Check): boolean => isBare || namingOf([check], gone).length === 0;
  const { verificationPlan: plan } = acceptance;
  const left = {
    ...plan,
    fastChecks: plan.fastChecks.filter(keeps),
    ...(plan.integrationChecks && { integrationChecks: plan.integrationChecks.filter(keeps) }),
    ...(plan.securityChecks && { securityChecks: plan.securityChecks.filter(keeps) }),
    ...(plan.releaseChecks && { releaseChecks: plan.releaseChecks.filter(keeps) }),
  };
  const lost = lostArtifacts(plan, left);
  const changed = {
    ...document,
    metadata: { ...metadata, id, createdAt, createdBy, target: { ...metadata.target, baseRef } },
    intent: {
      ...intent,
      summary: `Undo${task === undefined ? '' : ` ${task}`}: ${intent.summary}`
        .slice(0, maxSummary)
        .toWellFormed(),
      problemStatement: `What ${who} committed is not wanted: ${intent.summary}`,
      changeType: 'unknown',
      objectives: [
        `what ${who} changed is as it was before it`,
        ...files
          .slice(0, maxNamed)
          .flatMap(({ path, oldPath }) => [path, ...(oldPath === undefined ? [] : [oldPath])])
          .map((path) => `remove what it added to ${path}`.slice(0, 2000)),
      ],
      touchHints: {},
    },
    acceptance: {
      ...acceptance,
      successCriteria: [`what ${who} changed is as it was before it`],
      verificationPlan: left,
    },
    // This is a separate spec, confirmed by the person who undoes the run: the original may have been active when
    // supplied.
    lifecycle: { ...lifecycle, status: 'draft' },
    ...(artifacts === undefined
      ? {}
      : {
          artifacts: {
            ...artifacts,
            required: artifacts.required.filter(({ name }) => !lost.has(name)),
          },
        }),
  };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}

/** Returns the checks with a command that names a deleted file. */
function namingOf(checks: readonly Check[], gone: readonly string[]): readonly Check[] {
  return checks.filter(({ command = '' }) => gone.some((path) => isNamed(path, command)));
}

/** The path must match completely, and as a file path. Otherwise the choice of a file name could remove checks. */
function isNamed(path: string, command: string): boolean {
  if (!/[./]/.test(path)) return false;
  for (let at = command.indexOf(path); at >= 0; at = command.indexOf(path, at + 1)) {
    const [before, after] = [command.slice(Math.max(0, at - 3), at), command.slice(at + path.length)];
    if (/(?:^|[^\p{L}\p{N}_./-])(?:\.\/)?$/u.test(before) && !/^[\p{L}\p{N}_./-]/u.test(after)) return true;
  }
  return false;
}

type Plan = IntentSpec['acceptance']['verificationPlan'];

/** What only checks that are left out would have delivered. */
function lostArtifacts(before: Plan, after: Plan): ReadonlySet<string> {
  const made = (plan: Plan): readonly string[] =>
    Object.values(plan).flatMap((checks: readonly Check[] = []) =>
      checks.flatMap(({ artifactsProduced = [] }) => artifactsProduced),
    );
  const left = new Set(made(after));
  return new Set(made(before).filter((name) => !left.has(name)));
}
