/* Loads the module of a rule and calls it. */
import type { Finding } from '../../interfaces/finding.ts';
import type { RuleInput, RuleModule } from '../../interfaces/rule.ts';
import { parseFindings } from '../answer.ts';
import { toRunnable } from './to-runnable.ts';

export async function loadRuleModule(module: string): Promise<RuleModule> {
  return import(toRunnable(module));
}

/**
 * Evaluates the rule `id` of a loaded module. Throws if the module exports no `judge`, or if `judge` throws or
 * returns anything but findings of this rule.
 */
export async function findingsOf(
  { judge }: RuleModule,
  id: string,
  input: RuleInput,
): Promise<readonly Finding[]> {
  if (typeof judge !== 'function') throw new TypeError('the module exports no function `judge`');
  const findings = parseFindings(await judge(input));
  const foreign = findings.find((finding) => finding.rule !== id);
  if (foreign) throw new TypeError(`expected findings of rule \`${id}\`, got one of \`${foreign.rule}\``);
  return findings;
}
