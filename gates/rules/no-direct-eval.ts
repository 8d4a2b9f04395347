import type { Finding } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { CandidateSearch, RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { isScanned, mayHit, mayRename, type Scanned } from '../direct-eval/candidates.ts';
import { findHits } from '../direct-eval/find-hits.ts';
import { firstAdded, type Hit } from '../direct-eval/hit.ts';
import {
  becomesCode,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';

const rule = 'no-direct-eval';
const maxFindings = 500;

/**
 * Refuses added lines that execute text directly (document 1, outputHandling.noDirectEval), in the plain forms of each
 * language. Asked only of contracts that want it.
 */
export const judge: RuleFunction = async (input) => {
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    if (!isRegularCandidate(file)) continue;
    findings.push(...(await judgeFile(input, file)));
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

/** Files of the languages that are read, where the change has a word without which nothing runs text. */
export const candidates: CandidateSearch = {
  anchors: [],
  begin(input, file) {
    const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
    return isScanned(language) && isCandidate(input, file, language);
  },
};

/** Nothing is parsed where no word of direct execution is in the change or the files. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => {
    if (!isRegularCandidate(file)) return true;
    const language = languageOfChange(input, file);
    return !isScanned(language) || !isCandidate(input, file, language);
  });

async function judgeFile(input: RuleInput, file: PatchFile): Promise<readonly Finding[]> {
  const language = languageOfChange(input, file);
  if (!isScanned(language)) return [];
  if (!isCandidate(input, file, language)) return [];
  const source = candidateSource(input, file, language);
  if (!source) {
    const message = `\`${file.path}\` is source that git takes for binary, and its content was not given: it cannot be scanned`;
    return [{ rule, severity: 'error', message, path: file.path }];
  }
  const findings: Finding[] = [];
  const { hits, complete } = await findHits(source, language);
  if (!complete) {
    const message = `\`${file.path}\` is too large to be read whole: it may hold direct execution. Split the file`;
    findings.push({ rule, severity: 'error', message, path: file.path });
  }
  for (const hit of hits) {
    const added = firstAdded(source, hit);
    if (added !== undefined) findings.push(toFinding(source, hit, added));
    if (findings.length > maxFindings) break;
  }
  return findings;
}

function isCandidate(input: RuleInput, file: PatchFile, language: Scanned): boolean {
  const { patch, files } = input;
  const content = files[file.path]?.candidate;
  return (
    file.binary ||
    mayHit(patch.diff, language, file.start, file.end) ||
    (content !== undefined &&
      (mayRename(content, language) || (becomesCode(input, file, language) && mayHit(content, language))))
  );
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
