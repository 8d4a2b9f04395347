import { normalisePattern } from '../base/normalise-pattern.ts';
import { parseCount, parseList, parseText, parseWord, toFields } from '../base/parse-fields.ts';
import type { PlanDraft, PlannedTask, PlanRevision } from './plan-draft.ts';
import { replanTriggers } from './replan-trigger.ts';
import { stageNames } from './stage.ts';
import { checkTaskGraph, maxTasks } from './task-graph.ts';

const maxKeyLength = 64;
const maxTextLength = 8192;
const maxPathLength = 4096;
const maxTexts = 100_000;

/**
 * A plan draft from outside (a plugin, a model) in normal form; throws on nonsense and on a graph that `checkTaskGraph`
 * refuses.
 */
export function parsePlanDraft(answer: unknown): PlanDraft {
  const fields = toFields(answer, 'a plan draft', ['revision', 'tasks', 'revised']);
  const draft: PlanDraft = {
    revision: parseCount(fields, 'revision', 1),
    tasks: parseList(fields.tasks, parseTask, maxTasks),
    ...(fields.revised === undefined ? {} : { revised: parseRevision(fields.revised) }),
  };
  const checked = checkTaskGraph(draft.tasks);
  if (!checked.ok) throw new TypeError(checked.problems[0]?.message ?? 'expected a task graph');
  return draft;
}

const taskFields = [
  'key',
  'number',
  'kind',
  'title',
  'goal',
  'steps',
  'constraints',
  'acceptanceCriteria',
  'predictedWrites',
  'dependsOn',
  'gateStages',
];

function parseTask(item: unknown): PlannedTask {
  const fields = toFields(item, 'a planned task', taskFields);
  const key = parseKey(fields.key);
  const texts = (field: string): readonly string[] => parseTexts(fields[field], field, maxTextLength);
  return {
    key,
    number: parseCount(fields, 'number', 1),
    kind: parseWord(fields, 'kind', ['implementation', 'gate']),
    title: parseText(fields, 'title', maxTextLength),
    goal: parseText(fields, 'goal', maxKeyLength),
    steps: texts('steps'),
    constraints: texts('constraints'),
    acceptanceCriteria: texts('acceptanceCriteria'),
    ...(fields.predictedWrites === undefined
      ? {}
      : { predictedWrites: parseList(fields.predictedWrites, parsePattern, maxTexts) }),
    dependsOn: parseList(fields.dependsOn, parseKey, maxTasks),
    gateStages: parseList(fields.gateStages, (stage) => parseWord({ stage }, 'stage', stageNames)),
  };
}

function parseRevision(value: unknown): PlanRevision {
  const fields = toFields(value, 'a plan revision', ['previous', 'trigger', 'diffSummary', 'kept', 'redo']);
  return {
    previous: parseCount(fields, 'previous', 1),
    trigger: parseWord(fields, 'trigger', replanTriggers),
    diffSummary: parseText(fields, 'diffSummary', 4000),
    kept: parseList(fields.kept, parseKey, maxTasks),
    redo: parseList(fields.redo, parseKey, maxTasks),
  };
}

/** Keys become names of steps, refs and directories. */
function parseKey(key: unknown): string {
  const text = parseText({ key }, 'key', maxKeyLength);
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text))
    throw new TypeError('expected a task key of lower-case words joined by `-`');
  return text;
}

function parsePattern(item: unknown): string {
  const text = parseText({ path: item }, 'path', maxPathLength);
  const pattern = normalisePattern(text);
  if (pattern === undefined)
    throw new TypeError('expected `predictedWrites` to name places inside the repository');
  return pattern;
}

function parseTexts(value: unknown, field: string, maxLength: number): readonly string[] {
  return parseList(value, (item) => parseText({ [field]: item }, field, maxLength), maxTexts);
}
