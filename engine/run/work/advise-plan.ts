import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import { type TaskAdvice, withAdvice } from '../../plan/plan-advice.ts';
import { checksOf } from '../../spec/checks-of.ts';
import type { OpenRun } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { keepAdviceSpent } from '../state/spent.ts';
import { openTreeHands } from './hands/tree-hands.ts';
import { openTurns } from './turns/open-turns.ts';

/** In the record: what the model was asked of the plan, and what came of it. */
export const adviceFile = 'plan-advice.json';

/**
 * The plan with what the worker's model says of it, where it has several Tasks and there is a model. Advice that is not
 * usable leaves the contract's own plan; either is recorded. What asking the model throws stops the run, to be resumed.
 */
export async function advisePlan(run: OpenRun, draft: PlanDraft): Promise<PlanDraft> {
  const { worker, model, scratch, engine, signal, record } = run.means;
  const { contract, scope, runId } = run.identity;
  const keys = draft.tasks.flatMap(({ key, kind }) => (kind === 'implementation' ? [key] : []));
  if (worker?.draft === undefined || model === undefined || keys.length < 2) return draft;
  const spec = contract.effective;
  const turns = openTurns(run, model);
  let advised: PlanDraft | undefined;
  const end = await worker.draft({
    what: 'plan',
    subject: subjectOf(run, draft),
    form: formOf(
      keys,
      checksOf(spec).map(({ check: { id } }) => String(id)),
    ),
    cacheKey: `${run.identity.contract.digest.slice(0, 40)}/plan`,
    hands: openTreeHands({
      engine,
      repository: scratch,
      tree: run.ground.base.tree,
      runId,
      policy: policyOf(run),
      signal,
    }),
    turns,
    async submit(submitted) {
      const tasks = readAdvice(submitted, keys);
      if (tasks === undefined) return ['expected `tasks`, each with `key` and `steps`'];
      const made = withAdvice(draft, tasks, { spec, scope });
      if ('faults' in made) return made.faults;
      if (await holdsSecret(JSON.stringify(tasks))) return ['a plan holds no secret'];
      advised = made;
      return [];
    },
  });
  const { notices, requests, ...spent } = turns.taken();
  await keepAdviceSpent(run.means.steps, spent);
  const told = {
    taken: end.kind === 'taken',
    ...(end.kind === 'nothing' ? { reason: end.reason } : {}),
    provider: model.provider.name,
    model: model.model,
    ...spent,
    notices,
    requests,
  };
  await record.put([[adviceFile, Buffer.from(`${JSON.stringify(told, null, 1)}\n`)]]);
  return end.kind === 'taken' && advised !== undefined ? advised : draft;
}

function subjectOf({ identity: { contract, scope } }: OpenRun, draft: PlanDraft): string {
  const { intent, acceptance } = contract.effective;
  const tasks = draft.tasks.flatMap(({ key, kind, steps, dependsOn }) =>
    kind === 'implementation'
      ? [
          [
            `${key}${dependsOn.length === 0 ? '' : `, after ${dependsOn.join(', ')}`}:`,
            ...steps.map((step) => `- ${step}`),
          ].join('\n'),
        ]
      : [],
  );
  const list = (title: string, entries: readonly string[]): string =>
    entries.length === 0 ? '' : `${title}:\n${entries.map((entry) => `- ${entry}`).join('\n')}`;
  return [
    `The contract: ${intent.summary}\n\n${intent.problemStatement}`,
    `Its tasks:\n${tasks.join('\n')}`,
    list('May be written', scope.wholeRepository ? ['the whole repository'] : scope.write),
    list('Is never written', scope.forbidden),
    list('Accepted when', acceptance.successCriteria),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The form of advice (JSON Schema). */
function formOf(keys: readonly string[], checks: readonly string[]): Readonly<Record<string, unknown>> {
  const list = (items: object, description: string) => ({ type: 'array', items, description });
  const text = { type: 'string', minLength: 1 };
  const key = { enum: keys, type: 'string' };
  const task = {
    type: 'object',
    properties: {
      key,
      steps: list(text, 'what is done, in order; one line each'),
      writes: list(text, 'files that it writes'),
      after: list(key, 'tasks that are done before it'),
      checks: list({ ...text, ...(checks.length === 0 ? {} : { enum: checks }) }, 'checks that tell'),
    },
    required: ['key', 'steps'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: { tasks: { ...list(task, 'every task once'), minItems: keys.length } },
    required: ['tasks'],
    additionalProperties: false,
  };
}

function readAdvice(value: unknown, keys: readonly string[]): readonly TaskAdvice[] | undefined {
  const { tasks } = (value ?? {}) as { readonly tasks?: unknown };
  if (!Array.isArray(tasks) || tasks.length > 10 * keys.length) return undefined;
  const advice: TaskAdvice[] = [];
  for (const task of tasks as readonly unknown[]) {
    const { key, steps, writes = [], after = [], checks = [] } = (task ?? {}) as Partial<TaskAdvice>;
    const lists = [steps, writes, after, checks];
    if (typeof key !== 'string' || !lists.every(isTexts)) return undefined;
    advice.push({ key, steps: steps ?? [], writes, after, checks });
  }
  return advice;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

async function holdsSecret(text: string): Promise<boolean> {
  const { ownSecretsIn } = await import('../../spec/secret-words.ts');
  return ownSecretsIn(text).length > 0;
}
