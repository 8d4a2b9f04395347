import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Actor, Check, IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RunStore } from '../../store/run-store.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Base, treeOf } from '../../workspace/git/resolve-commit.ts';
import {
  inUndoScratch,
  stepsUndoing,
  treeWithout,
  type Undoing,
} from '../../workspace/patch/patch-undoing.ts';
import { type LaidPart, layParts } from '../record/read-run.ts';

/** What takes one Task of a sealed run back, or why it is not taken back. */
export type TaskUndoing =
  | { readonly kind: 'patch'; readonly undoing: Undoing }
  /** `unchanged`: it changed nothing; `nothing`: nothing of it is left. */
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
 * The reverse of what one Task of several changed, at `tip`: of its own steps alone, merged with what its fellows and
 * others did. What the record says of Tasks is held against the commit first.
 */
export async function taskUndoing(
  repository: Repository,
  store: RunStore,
  { runId, commit, task }: SealedTask,
  tip: Base,
): Promise<TaskUndoing> {
  return inUndoScratch(repository, async (scratch): Promise<TaskUndoing> => {
    const laid = await layParts(scratch, store, runId, commit);
    if (laid.kind !== 'laid') return laid;
    const { parts } = laid;
    const own = parts.filter(({ part }) => part.task === task);
    if (own.length === 0) return { kind: 'unchanged' };
    const undoing = await stepsUndoing(scratch, own, tip);
    if (undoing === undefined) return { kind: 'nothing' };
    if (undoing.conflicts === undefined) return { kind: 'patch', undoing };
    const { conflicts } = await treeWithout(scratch, own, await treeOf(scratch, commit));
    // Where it could be taken back when it was made, others stand in the way.
    if (conflicts === undefined) return { kind: 'patch', undoing };
    return { kind: 'built-upon', paths: conflicts, tasks: tasksUpon(parts, task, conflicts) };
  });
}

/** Tasks that changed one of these files after the Task had begun to. */
function tasksUpon(parts: readonly LaidPart[], task: string, paths: readonly string[]): readonly string[] {
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

/** What a contract that takes a run back is made of. */
interface UndoWords {
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly createdBy: Actor;
  readonly baseRef: string;
  readonly runId: string;
  /** Where one Task of several is taken back. */
  readonly task?: string;
  /** Of the patch that takes it back. */
  readonly files: readonly Pick<PatchFile, 'path' | 'oldPath' | 'changeType'>[];
}

const maxSummary = 256;
/** Objectives that name files: tests that go in any other are refused. */
const maxNamed = 500;

/**
 * The contract of a run, for taking back what it committed: the same scope, checks and policy, under an id of its own.
 * Its objectives name the files in which something is removed, tests too (resolutions, Tests are kept); checks that
 * name a file that goes are not asked, as long as another fast one is left. INTENTSPEC_MALFORMED.
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
    // A contract of its own, confirmed by whoever takes back: the one that it is made of may have been active as given.
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

/** Checks whose command names a file that goes. */
function namingOf(checks: readonly Check[], gone: readonly string[]): readonly Check[] {
  return checks.filter(({ command = '' }) => gone.some((path) => isNamed(path, command)));
}

/** As a whole, and as a file: whoever chose its name did not choose which checks are asked. */
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
