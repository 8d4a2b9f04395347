import { stageNames } from '../contract/stage.ts';
import type { EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import type { ObjectBody } from '../store/object-shapes.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { Attempt } from './attempt.ts';

/** The Intent of a contract (document 1, Metadata and Intent). */
export function intentBody({
  effective,
  digest,
}: Pick<AdmittedContract, 'effective' | 'digest'>): ObjectBody<'intent'> {
  const { intent, risk } = effective;
  return {
    intentspec_digest: digest,
    summary: intent.summary,
    prompt: intent.problemStatement,
    change_type: intent.changeType,
    risk_level: risk.level,
    objectives: intent.objectives,
  };
}

/** The Plan for a supplied patch: one Task whose steps are the objectives (resolutions, A supplied patch). */
export function planBody(
  { contract, scope }: Pick<Attempt, 'contract' | 'scope'>,
  intent: string,
  task: string,
): ObjectBody<'plan'> {
  return {
    intent,
    revision: 1,
    steps: contract.effective.intent.objectives.map((objective) => ({ objective, task })),
    tasks: [task],
    edges: [],
    scope: { write: scope.write, forbidden: scope.forbidden, whole_repository: scope.wholeRepository },
    stages: [...stageNames],
  };
}

/** The one Task of a supplied patch. */
export function taskBody(
  { contract }: Pick<Attempt, 'contract'>,
  intent: string,
  plan: string,
): ObjectBody<'task'> {
  const spec = contract.effective;
  return {
    intent,
    plan,
    title: spec.intent.summary,
    goal: spec.intent.changeType,
    steps: spec.intent.objectives,
    constraints: taskConstraints(spec),
    acceptance_criteria: spec.acceptance.successCriteria,
    depends_on: [],
  };
}

/** Hard boundaries as a worker reads them, with the prefixes that document 1 names. */
export function taskConstraints({ intent, constraints, risk }: EffectiveIntentSpec): readonly string[] {
  const { cryptoPolicy } = constraints.security;
  return [
    ...intent.inScope.map((entry) => `in-scope:${entry}`),
    ...intent.outOfScope.map((entry) => `out-of-scope:${entry}`),
    ...(cryptoPolicy === '' ? [] : [`crypto-policy:${cryptoPolicy}`]),
    `risk-rationale:${risk.rationale}`,
  ];
}
