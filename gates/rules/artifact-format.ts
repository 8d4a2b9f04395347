import type { Finding } from '../../core/contract/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { gateOf } from '../../core/run/collect-artifacts.ts';
import { artifactContent } from '../formats/artifact-content.ts';
import { matchesFormat } from '../formats/matches-format.ts';

const rule = 'artifact-format';

/** Every artifact of this stage has the digest of its record and is of the format that the contract declares for it (contract, Errors 2). */
export const judge: RuleFunction = async (input) => {
  const findings: Finding[] = [];
  for (const record of input.artifacts.filter(({ stage }) => stage === input.stage?.name)) {
    const { name, path, sha256 } = record;
    const content = artifactContent(input, record);
    if ('found' in content) {
      const message = `artifact \`${name}\`: expected ${record.sizeBytes} bytes with SHA-256 ${sha256}, found ${content.found}`;
      findings.push({ rule, severity: 'error', message, path, detail: { artifact: name, sha256 } });
      continue;
    }
    const entry = requirementOf(input, record);
    const mismatch = entry?.format ? await matchesFormat(entry.format, content.bytes) : undefined;
    if (!entry || !mismatch) continue;
    findings.push({
      rule,
      severity: entry.required ? 'error' : 'warning',
      message: `artifact \`${name}\`: expected ${mismatch.expected}, found ${mismatch.found}`,
      path,
      detail: { artifact: name, format: entry.format, ...mismatch },
    });
  }
  return findings;
};

/** The contract's entry for this artifact at this stage, else its first of that name. */
function requirementOf({ spec, stage }: RuleInput, { name }: { readonly name: string }) {
  const entries = spec.artifacts.required.filter((entry) => entry.name === name);
  return entries.find((entry) => gateOf[entry.stage] === stage?.name) ?? entries[0];
}
