import type { Finding } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { findHits, isScanned, mayHit } from '../direct-eval/find-hits.ts';
import type { Hit } from '../direct-eval/hit.ts';
import {
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
  sectionText,
} from '../source/changed-source.ts';

const rule = 'no-direct-eval';
const maxFindings = 500;

/** Refuses added lines that execute text directly (document 1, outputHandling.noDirectEval), in the plain forms of each language. */
export const judge: RuleFunction = (input) => {
  if (!input.spec.security.outputHandling.noDirectEval) return [];
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    if (!isRegularCandidate(file)) continue;
    findings.push(...judgeFile(input, file));
    if (findings.length > maxFindings) {
      const more: Finding = {
        rule,
        severity: 'error',
        message: `more than ${maxFindings} places execute text directly; the rest is not listed`,
      };
      return [...findings.slice(0, maxFindings), more];
    }
  }
  return findings;
};

function judgeFile(input: RuleInput, file: PatchFile): readonly Finding[] {
  const language = languageOfChange(input, file);
  if (!isScanned(language)) return [];
  if (!file.binary && !mayHit(sectionText(input, file), language)) return [];
  const source = candidateSource(input, file, language);
  if (!source) {
    const message = `\`${file.path}\` is source that git takes for binary, and its content was not given: it cannot be scanned`;
    return [{ rule, severity: 'error', message, path: file.path }];
  }
  const findings: Finding[] = [];
  for (const hit of findHits(source, language)) {
    const added = [hit.start, ...(hit.also ?? [])].find((offset) => source.isAdded(offset));
    if (added !== undefined) findings.push(toFinding(source, hit, added));
    if (findings.length > maxFindings) break;
  }
  return findings;
}

/** At the first offset that the patch added. */
function toFinding(source: ChangedSource, hit: Hit, offset: number): Finding {
  const call = Buffer.from(hit.call, 'latin1').toString('utf8');
  return {
    rule,
    severity: 'error',
    message: `\`${call}\` ${hit.why}`,
    path: source.path,
    ...source.positionOf(offset),
    detail: { call, language: source.language, ...(source.whole ? {} : { seen: 'diff only' }) },
  };
}
