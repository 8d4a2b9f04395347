import { judge } from '../gates/rules/secrets.ts';
import { negatives, positives, type Sample } from '../test/gates/secrets/labelled-set.ts';
import { toRuleInput } from '../testing.ts';

export interface SecretFigures {
  readonly positives: number;
  readonly negatives: number;
  /** Share of positives that are refused. */
  readonly recall: number;
  /** Share of negatives that are refused. */
  readonly falsePositives: number;
}

/** How the `secrets` rule does on its labelled set. */
export async function benchSecrets(): Promise<SecretFigures> {
  const secrets = positives();
  const others = negatives();
  const found = await refused(secrets);
  const wrong = await refused(others);
  return {
    positives: secrets.length,
    negatives: others.length,
    recall: found / secrets.length,
    falsePositives: wrong / others.length,
  };
}

async function refused(samples: readonly Sample[]): Promise<number> {
  let count = 0;
  for (const { path, text } of samples) {
    const findings = await judge(toRuleInput({ name: path, files: { [path]: { candidate: text } } }));
    if (findings.some(({ severity }) => severity === 'error')) count += 1;
  }
  return count;
}
