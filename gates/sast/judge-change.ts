import type { Finding } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { firstAdded, type Hit } from '../direct-eval/hit.ts';
import {
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { findSast, isAnalysed, mayHitRow, mayRenameRow } from './find-sast.ts';
import { sastRow } from './rows.ts';
import { readSastOptions, type SastOptions } from './sast-options.ts';

const rule = 'sast';
const maxFindings = 500;

/** What our rows say of the added lines. A finding with `detail.incomplete` says that something was not looked at. */
export async function judgeChange(input: RuleInput): Promise<readonly Finding[]> {
  const options = readSastOptions(input.options);
  const findings: Finding[] = options.problems.map((problem) => ({
    rule,
    severity: 'error',
    message: `\`[rules.sast]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
  }));
  for (const file of input.patch.files) {
    if (!isRegularCandidate(file)) continue;
    findings.push(...(await judgeFile(input, file, options)));
    if (findings.length > maxFindings)
      return [
        ...findings.slice(0, maxFindings),
        incomplete(`more than ${maxFindings} places were found; the rest is not listed`),
      ];
  }
  return findings;
}

async function judgeFile(
  input: RuleInput,
  file: PatchFile,
  options: SastOptions,
): Promise<readonly Finding[]> {
  const language = languageOfChange(input, file);
  if (!isAnalysed(language)) return [];
  const content = input.files[file.path]?.candidate;
  const isCandidate =
    file.binary ||
    mayHitRow(input.patch.diff, language, file.start, file.end) ||
    (content !== undefined && mayRenameRow(content, language));
  if (!isCandidate) return [];
  const source = candidateSource(input, file, language);
  if (!source)
    return [
      incomplete(
        `\`${file.path}\` is source that git takes for binary, and its content was not given: it cannot be analysed`,
        file.path,
      ),
    ];
  const findings: Finding[] = [];
  const { hits, complete } = await findSast(source, language);
  if (!complete)
    findings.push(
      incomplete(
        `\`${file.path}\` is too large to be read whole, and not all of it was analysed. Split the file`,
        file.path,
      ),
    );
  for (const hit of hits) {
    const added = firstAdded(source, hit);
    if (added !== undefined) findings.push(toFinding(source, hit, added, options));
    if (findings.length > maxFindings) break;
  }
  return findings;
}

function toFinding(source: ChangedSource, hit: Hit, offset: number, options: SastOptions): Finding {
  const row = sastRow(hit.why);
  const call = Buffer.from(hit.call, 'latin1').toString('utf8').slice(0, 200);
  const isAllowed = options.isAllowed(hit.why, source.path);
  const why = row ? `${row.why}; ${row.instead}` : hit.why;
  return {
    rule,
    severity: isAllowed ? 'note' : (row?.severity ?? 'error'),
    message: isAllowed ? `\`${call}\` is allowed here by \`[rules.sast]\`: it ${why}` : `\`${call}\` ${why}`,
    path: source.path,
    ...source.positionOf(offset),
    detail: {
      row: hit.why,
      ...(row ? { cwe: `CWE-${row.cwe}` } : {}),
      call,
      language: source.language,
      ...(source.whole ? {} : { seen: 'diff only' }),
      ...(isAllowed ? { suppressed: true, reason: 'config' } : {}),
    },
  };
}

function incomplete(message: string, path?: string): Finding {
  return {
    rule,
    severity: 'error',
    message,
    ...(path === undefined ? {} : { path }),
    detail: { incomplete: true },
  };
}
