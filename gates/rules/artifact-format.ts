/* The rule `artifact-format`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import type { ArtifactRecord } from '../../core/interfaces/stage.ts';
import { lookedForAt } from '../../spec/checks-of.ts';
import { artifactContent, isOfTests, matchesFormat } from '../formats/matches-format.ts';

const rule = 'artifact-format';

/**
 * Checks artifacts made or required at this stage: each must match the digest of its record and its declared format.
 */
export const judge: RuleFunction = async (input) => {
  const findings: Finding[] = [];
  // Once for each entry: a run may have a thousand checks with an artifact each.
  const required = input.spec.artifacts.required.map((entry) => ({
    entry,
    isOfStage: lookedForAt(input.spec, entry) === input.stage?.name,
  }));
  for (const record of input.artifacts) {
    const entries = requirementsOf(required, input, record);
    if (!entries) continue;
    const { name, path, sha256 } = record;
    const content = artifactContent(input, record);
    if ('found' in content) {
      const message = `artifact \`${name}\`: expected ${record.sizeBytes} bytes with SHA-256 ${sha256}, found ${content.found}`;
      findings.push({ rule, severity: 'error', message, path, detail: { artifact: name, sha256 } });
      continue;
    }
    for (const { format, required } of entries) {
      const mismatch = format ? await matchesFormat(format, content.bytes) : undefined;
      if (!mismatch) continue;
      findings.push({
        rule,
        severity: required ? 'error' : 'warning',
        message: `artifact \`${name}\`: expected ${mismatch.expected}, found ${mismatch.found}`,
        path,
        detail: { artifact: name, format, ...mismatch },
      });
    }
  }
  return findings;
};

/** Reports of tests are parsed in a thread. */
export const isLinear = ({ spec }: RuleInput): boolean =>
  spec.artifacts.required.every(({ format }) => format === undefined || !isOfTests(format));

/**
 * The spec's entries for this artifact at this stage. If it was made now but is required only at another stage, the
 * first entry. `undefined` if this stage does not concern it.
 */
function requirementsOf(
  required: readonly { readonly entry: Requirement; readonly isOfStage: boolean }[],
  { stage }: RuleInput,
  { name, stage: madeAt }: ArtifactRecord,
): readonly Requirement[] | undefined {
  const entries = required.filter(({ entry }) => entry.name === name);
  const ofStage = entries.filter(({ isOfStage }) => isOfStage);
  const found = ofStage.length > 0 ? ofStage : madeAt === stage?.name ? entries.slice(0, 1) : undefined;
  return found?.map(({ entry }) => entry);
}

type Requirement = RuleInput['spec']['artifacts']['required'][number];
