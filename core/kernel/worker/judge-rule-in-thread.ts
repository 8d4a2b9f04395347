import type { Finding } from '../../contract/finding.ts';
import type { RuleInput } from '../../contract/rule.ts';
import { parseFindings } from '../answer.ts';
import { loadRuleModule } from './load-rule-module.ts';

/** A rule's module and what it is asked. */
export interface RuleTask {
  readonly id: string;
  /** File URL. */
  readonly module: string;
  readonly input: RuleInput;
}

/**
 * Loads a rule's module and asks it. Throws when it exports no `judge`, throws, or answers anything but its own
 * findings.
 */
export async function run({ id, module, input }: RuleTask): Promise<readonly Finding[]> {
  const loaded = await loadRuleModule(module);
  if (typeof loaded.judge !== 'function') throw new TypeError('the module exports no function `judge`');
  const findings = parseFindings(await loaded.judge(input));
  const foreign = findings.find((finding) => finding.rule !== id);
  if (foreign) throw new TypeError(`expected findings of rule \`${id}\`, got one of \`${foreign.rule}\``);
  return findings;
}
