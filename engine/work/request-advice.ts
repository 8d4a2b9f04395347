/* Requests a model's advice on a plan. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { DraftEnd, Hands, ReadingHost, Turns, Worker } from '../../core/interfaces/worker.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { type TaskAdvice, withAdvice } from '../plan/plan-advice.ts';

/** The input for a model's advice on a plan, and the workspace tools that it may use. */
export interface AdviceQuestion {
  readonly drafter: Required<Pick<Worker, 'draft'>>;
  readonly plan: PlanDraft;
  readonly spec: EffectiveIntentSpec;
  readonly scope: Scope;
  /** The repository's instruction files, remarks on the previous plan and what became of them; untrusted text. */
  readonly remarks?: readonly string[];
  readonly cacheKey: string;
  /** Reading only. */
  readonly hands: Hands;
  readonly turns: Turns;
  readonly agent?: ReadingHost;
}

/** Advice and the plan with it; absent if no advice was accepted. */
export interface Advised {
  readonly end: DraftEnd;
  readonly taken?: { readonly advice: readonly TaskAdvice[]; readonly plan: PlanDraft };
}

/** Keys of the Tasks that somebody works at. */
export function workKeys({ tasks }: Pick<PlanDraft, 'tasks'>): readonly string[] {
  return tasks.flatMap(({ key, kind }) => (kind === 'implementation' ? [key] : []));
}

/** Calls a model for advice on how to do a plan's Tasks. Errors of the model call are thrown. */
export async function requestAdvice(question: AdviceQuestion): Promise<Advised> {
  const { drafter, plan, spec, scope, cacheKey, hands, turns, agent } = question;
  const keys = workKeys(plan);
  let taken: Advised['taken'];
  const end = await drafter.draft({
    what: 'plan',
    subject: subjectOf(question),
    form: formOf(
      keys,
      checksOf(spec).map(({ check: { id } }) => String(id)),
    ),
    cacheKey,
    hands,
    turns,
    ...(agent === undefined ? {} : { agent }),
    async submit(submitted) {
      const advice = readAdvice(submitted, keys);
      if (advice === undefined) return ['expected `tasks`, each with `key` and `steps`'];
      const made = withAdvice(plan, advice, { spec, scope });
      if ('faults' in made) return made.faults;
      if (await holdsSecret(JSON.stringify(advice))) return ['a plan holds no secret'];
      taken = { advice, plan: made };
      return [];
    },
  });
  return end.kind === 'taken' && taken !== undefined ? { end, taken } : { end };
}

function subjectOf({ plan, spec, scope, remarks = [] }: AdviceQuestion): string {
  const { intent, acceptance } = spec;
  const tasks = plan.tasks.flatMap(({ key, kind, steps, dependsOn }) =>
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
    ...remarks,
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
      checks: list({ ...text, ...(checks.length === 0 ? {} : { enum: checks }) }, 'checks that show'),
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
  const { ownSecretsIn } = await import('../../spec/secrets-in-text.ts');
  return ownSecretsIn(text).length > 0;
}
