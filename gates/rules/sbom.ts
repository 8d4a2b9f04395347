/* The rule `sbom`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { cyclonedxFault, isObject, spdxFault } from '../formats/documents.ts';
import { evaluateDocuments } from '../formats/matches-format.ts';

const rule = 'sbom';
const artifact = 'sbom';
const expected = 'CycloneDX JSON (1.2 to 1.7) or SPDX JSON (2.2, 2.3)';

/**
 * `sbom` must exist and have the required members of CycloneDX or SPDX JSON. The rule does not check that it lists
 * every dependency.
 */
export const judge: RuleFunction = (input) =>
  evaluateDocuments({ rule, artifact, expected, judge: judgeBom }, input);

function judgeBom(value: unknown, path: string): readonly Finding[] {
  const isSpdx = isObject(value) && value.spdxVersion !== undefined;
  const found = isSpdx ? spdxFault(value) : cyclonedxFault(value);
  if (found === undefined) return [];
  const message = `expected \`${artifact}\` to be ${expected}, found ${found}`;
  return [{ rule, severity: 'error', message, path, detail: { artifact, expected, found } }];
}
