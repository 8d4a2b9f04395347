/* The rule `sast`. */
import { compileGlob, type Glob } from '../../core/base/glob.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { wordSearch } from '../../readers/anchors/anchor-search.ts';
import type { Searches } from '../direct-eval/candidates.ts';
import { executesText, type Hit, linesOf } from '../direct-eval/hits.ts';
import { type SourceScan, scanChange } from '../direct-eval/scan-change.ts';
import { isObject } from '../formats/documents.ts';
import { evaluateDocuments } from '../formats/matches-format.ts';
import { sarifFault, sarifResults, unfinishedReason } from '../formats/sarif.ts';
import { plainLine } from '../reports/test-report.ts';
import { retiredRows, sastRow, sastRows } from '../sast/rows.ts';
import type { ChangedSource } from '../source/changed-source.ts';

const rule = 'sast';
const artifact = 'sast-report';
const expected = 'SARIF 2.1.0 in which a tool ran and reports no result of level `error`';
const maxFindings = 100;

/**
 * Gates at which the spec can require a report, in order. From the security gate on, the rule expects one, unless the
 * spec requires it later.
 */
const gates: readonly string[] = ['per-task', 'integration', 'security', 'release'];

/**
 * Static analysis: findings of the built-in rows on added lines (gates/sast/rows.ts), and every `sast-report`. A
 * report must be SARIF of a tool that ran, without a result of level `error`. Suppressed results count, because the
 * change itself may contain the suppression. Without a stage only the rows run.
 */
export const judge: RuleFunction = async (input) => {
  const own = await evaluateChange(input);
  const { stage } = input;
  if (!stage) return own;
  const hasReport = input.artifacts.some(({ name }) => name === artifact);
  const place = stage.name === 'fast' ? 0 : gates.indexOf(stage.name);
  const isLater = input.spec.artifacts.required.some(
    ({ name, stage: at }) => name === artifact && gates.indexOf(at) > place,
  );
  if (!hasReport && (isLater || place < gates.indexOf('security'))) return own;
  // The engine's own report repeats the row findings. Its completeness and format are still checked.
  return [...own, ...evaluateDocuments({ rule, artifact, expected, judge: judgeReport }, input)];
};

function judgeReport(value: unknown, path: string, isOurs: boolean): readonly Finding[] {
  const fail = (found: string): Finding => ({
    rule,
    severity: 'error',
    message: `expected \`${artifact}\` to be ${expected}, found ${found}`,
    path,
    detail: { artifact, expected, found },
  });
  const fault = sarifFault(value);
  if (fault !== undefined) return [fail(fault)];
  const runs = isObject(value) && Array.isArray(value.runs) ? value.runs.filter(isObject) : [];
  if (runs.length === 0) return [fail('no run of a tool')];
  const findings = runs.flatMap((run) => {
    const unfinished = unfinishedReason(run);
    return unfinished === undefined ? [] : [fail(unfinished)];
  });
  if (isOurs) return findings;
  let errors = 0;
  for (const result of runs.flatMap((run) => [...sarifResults(run)])) {
    if (result.level !== 'error') continue;
    errors += 1;
    if (errors > maxFindings) continue;
    findings.push({
      rule,
      severity: 'error',
      message: `${plainLine(result.ruleId, 100)}: ${plainLine(result.message, 300)}`,
      path: result.path === undefined ? path : plainLine(result.path, 500),
      ...(result.line === undefined ? {} : { line: result.line }),
      detail: { artifact, level: 'error' },
    });
  }
  if (errors > maxFindings)
    findings.push(fail(`${errors} results of level \`error\`, of which ${maxFindings} are listed`));
  return findings;
}

/** Full-width and mathematical letters, which Python reads as plain ones. */
const pythonLetters = ['\xef\xbd', '\xf0\x9d'];

const languages = [...new Set(sastRows.map(({ id }) => id.slice('sast/'.length, id.indexOf('-'))))];
const searches = new Map(
  languages.map((language): [string, Searches] => {
    const rows = sastRows.filter(({ id }) => id.startsWith(`sast/${language}-`));
    const words = [...rows.flatMap((row) => row.words), ...(language === 'python' ? pythonLetters : [])];
    return [language, { words: wordSearch(words, { fold: language === 'php' }) }];
  }),
);

/**
 * Findings of the built-in rows on added lines. `detail.incomplete` marks a finding about a part that was not
 * scanned.
 */
async function evaluateChange(input: RuleInput): Promise<readonly Finding[]> {
  const options = readSastOptions(input.options);
  const problems = options.problems.map(
    (problem): Finding => ({
      rule,
      severity: 'error',
      message: `\`[rules.sast]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
    }),
  );
  const scan: SourceScan = {
    searches,
    isMine: (hit) => !executesText(hit),
    toFinding: (source, hit, offset) => toFinding(source, hit, offset, options),
    unscanned: (message, path) => ({
      rule,
      severity: 'error',
      message,
      ...(path === undefined ? {} : { path }),
      detail: { incomplete: true },
    }),
    says: { many: 'were found', unread: 'analysed', large: ', and not all of it was analysed' },
  };
  return [...problems, ...(await scanChange(input, scan))];
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
      ...linesOf(source, hit, offset),
      ...(source.whole ? {} : { seen: 'diff only' }),
      ...(isAllowed ? { suppressed: true, reason: 'config' } : {}),
    },
  };
}

/** What `[rules.sast]` of the config at the policy commit allows. */
interface SastOptions {
  /** Whether a row is allowed to hit in a file. The hit is then listed but does not block. */
  isAllowed(row: string, path: string): boolean;
  /** What is wrong with the options; each fails the rule. */
  readonly problems: readonly string[];
}

/**
 * Reads `allow`: tables of a `row` and `paths` (globs, at least one). A marker in the source allows no hit, because
 * the change may have added it.
 */
function readSastOptions(options: Readonly<Record<string, unknown>>): SastOptions {
  const problems = Object.keys(options)
    .filter((name) => name !== 'allow')
    .map((name) => `\`${name}\` is no option; known is \`allow\``);
  const allowed: { readonly row: string; readonly globs: readonly Glob[] }[] = [];
  const { allow = [] } = options;
  for (const [index, one] of (Array.isArray(allow) ? allow : [allow]).entries()) {
    const { row, paths, ...rest } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const isRight =
      Object.keys(rest).length === 0 &&
      typeof row === 'string' &&
      Array.isArray(paths) &&
      paths.length > 0 &&
      paths.every((path) => typeof path === 'string');
    if (!isRight) problems.push(`\`allow[${index}]\` is expected to be \`{ row = "…", paths = ["…"] }\``);
    else if (!sastRow(row) && !retiredRows.includes(row))
      problems.push(`\`allow[${index}].row\` is none of ${sastRows.map(({ id }) => id).join(', ')}`);
    else allowed.push({ row, globs: (paths as readonly string[]).map((path) => compileGlob(path)) });
  }
  return {
    problems,
    isAllowed: (id, path) =>
      allowed.some(({ row, globs }) => row === id && globs.some((glob) => glob.matches(path))),
  };
}
