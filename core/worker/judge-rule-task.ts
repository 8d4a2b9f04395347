import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseFindings } from '../answer.ts';
import type { Finding } from '../contract/finding.ts';
import type { RuleFunction } from '../contract/rule.ts';
import type { RuleTask } from './task-map.ts';

/** Loads a rule's module and asks it. Throws when it exports no `judge`, throws, or answers anything but its own findings. */
export async function judgeRuleTask({ id, module, input }: RuleTask): Promise<readonly Finding[]> {
  const loaded: { readonly judge?: RuleFunction } = await import(toRunnable(module));
  if (typeof loaded.judge !== 'function') throw new TypeError('the module exports no function `judge`');
  const findings = parseFindings(await loaded.judge(input));
  const foreign = findings.find((finding) => finding.rule !== id);
  if (foreign) throw new TypeError(`expected findings of rule \`${id}\`, got one of \`${foreign.rule}\``);
  return findings;
}

/** Rules name their module as written (`./rule.ts`); in the compiled package it stands beside as `.js`. */
function toRunnable(module: string): string {
  if (!module.endsWith('.ts') || existsSync(fileURLToPath(module))) return module;
  return `${module.slice(0, -'.ts'.length)}.js`;
}
