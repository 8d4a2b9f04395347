import type { Finding } from '../../contract/finding.ts';
import { parseFindings } from '../answer.ts';
import { loadRuleModule } from './load-rule-module.ts';
import type { RuleTask } from './task-map.ts';

/** Loads a rule's module and asks it. Throws when it exports no `judge`, throws, or answers anything but its own findings. */
export async function judgeRuleTask({ id, module, input }: RuleTask): Promise<readonly Finding[]> {
  const loaded = await loadRuleModule(module);
  if (typeof loaded.judge !== 'function') throw new TypeError('the module exports no function `judge`');
  const findings = parseFindings(await loaded.judge(input));
  const foreign = findings.find((finding) => finding.rule !== id);
  if (foreign) throw new TypeError(`expected findings of rule \`${id}\`, got one of \`${foreign.rule}\``);
  return findings;
}
