/* The rule `undeclared-api`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { isDeclared, readApiCalls } from '../api-calls/read-calls.ts';
import {
  baseSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';

const rule = 'undeclared-api';
const maxFindings = 100;

/**
 * Reports HTTP calls on added lines with an endpoint that `touchHints.apis` does not list: the trigger `unknown-api`.
 * Endpoints that the file called before are not reported. The rule cannot see an endpoint that only a variable holds
 * (docs/static-analysis.md).
 */
export const judge: RuleFunction = (input) => {
  const { apis } = input.spec.intent.touchHints;
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
    const source = language && candidateSource(input, file, language);
    if (!source) continue;
    const calls = readApiCalls(source).filter(
      ({ start, end }) => source.isAdded(start) || source.isAdded(end),
    );
    const unknown = calls.filter(({ endpoint }) => !isDeclared(endpoint, apis));
    if (unknown.length === 0) continue;
    const before = baseSource(input, file, source.language);
    const known = new Set((before ? readApiCalls(before) : []).map(({ endpoint }) => endpoint));
    for (const { endpoint, callee, start } of unknown) {
      if (known.has(endpoint)) continue;
      const shown = Buffer.from(endpoint, 'latin1').toString('utf8');
      findings.push({
        rule,
        severity: 'error',
        message: `\`${callee}\` calls \`${shown}\`, which \`intent.touchHints.apis\` does not name`,
        path: source.path,
        ...source.positionOf(start),
        detail: { endpoint: shown },
      });
      if (findings.length >= maxFindings) return findings;
    }
  }
  return findings;
};
