import { alwaysStricter } from '../../engine/intent/draft/drafted-contract.ts';
import type { DraftedIntent } from '../../engine/run/draft/draft-intent.ts';
import { checkLists } from '../../engine/spec/checks-of.ts';
import { unusualFacts } from '../../engine/spec/unusual-facts.ts';

/** What of a drafted contract a person judges, apart from all that is as in every other of its risk. */
export function essenceOf({ contract: { effective }, repairs }: Pick<DraftedIntent, 'contract' | 'repairs'>) {
  const { intent, acceptance, risk } = effective;
  return {
    problem: intent.problemStatement,
    objectives: intent.objectives,
    acceptedWhen: acceptance.successCriteria,
    checks: checkLists.flatMap((list) =>
      acceptance.verificationPlan[list].map(({ id, command }) => ({
        id,
        stage: list.replace('Checks', ''),
        ...(command === undefined ? {} : { command }),
      })),
    ),
    rationale: risk.rationale,
    factors: risk.factors,
    unusual: unusualFacts(effective),
    stricter: repairs.filter((one) => one !== alwaysStricter),
  };
}
