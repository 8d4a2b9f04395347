/* Prints the results of scans and of verifications. */
import { rangesOf } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import type { ExplainedClaim } from '../../attest/verify/explain.ts';
import type { VerifyCheck } from '../../attest/verify/report.ts';
import type { ScannedFinding, ScanResult } from '../../gates/scan/scan-pieces.ts';
import { type Part, type Printer, type Style, styled } from '../terminal/print.ts';
import { modelWords, pluginWords, toCount } from './words.ts';

const most = 200;
const scanTones: Readonly<Record<ScannedFinding['severity'], Style>> = {
  error: 'red',
  warning: 'yellow',
  note: 'cyan',
};

/** The findings of a scan with the lines around them, then one line that sums up. */
export function printScan(printer: Printer, result: ScanResult, paths: readonly string[]): void {
  const { findings, files, lines } = result;
  for (const finding of findings.slice(0, most)) printFinding(printer, finding);
  if (findings.length > most)
    printer.line(styled('dim', `and ${findings.length - most} more; \`--json\` or \`--sarif\` has all`));
  const count = (severity: ScannedFinding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length;
  const words = [toCount(count('error'), 'error'), toCount(count('warning'), 'warning')];
  const suppressed = findings.filter(({ detail }) => detail?.suppressed === true).length;
  if (suppressed > 0) words.push(`${suppressed} suppressed`);
  printer.line(`${words.join(', ')} in ${toCount(lines, 'added line')} of ${toCount(files, 'file')}`);
  for (const path of paths) printer.line(path);
}

function printFinding(printer: Printer, finding: ScannedFinding): void {
  const { severity, rule, path, line, column, message, around } = finding;
  const place = [path, line, column].filter((part) => part !== undefined).join(':');
  printer.line(
    styled(scanTones[severity], severity),
    `  ${rule}`,
    ...(place === '' ? [] : ['  ', styled('bold', place)]),
  );
  printer.line(`  ${message}`);
  if (!printer.quiet && around) printFrame(printer, finding, around);
  printer.line();
}

function printFrame(
  printer: Printer,
  { severity, line, column }: ScannedFinding,
  around: NonNullable<ScannedFinding['around']>,
): void {
  const width = String(around.at(-1)?.line ?? 0).length;
  for (const one of around) {
    const margin = `  ${one.line === line ? '>' : ' '} ${String(one.line).padStart(width)} ${one.added ? '+' : '|'} `;
    printer.line(styled('dim', margin), one.text);
    if (one.line === line && column !== undefined && column <= one.text.length)
      printer.line(
        styled('dim', ' '.repeat(margin.length)),
        ' '.repeat(column - 1),
        styled(scanTones[severity], '^'),
      );
  }
}

/** The colour of each status. */
const tones: Readonly<Record<VerifyCheck['status'], Style>> = {
  passed: 'green',
  expired: 'yellow',
  missing: 'yellow',
  unverified: 'yellow',
  failed: 'red',
};

/** Prints the checks of one target. Evidence digests that hold, and checks that could not run, are only counted. */
export function printVerification(printer: Printer, verified: VerifiedTarget): void {
  printVerdict(printer, verified);
  const { checks } = verified.report;
  const evidence = checks.filter(({ id, status }) => id.startsWith('evidence:') && status === 'passed');
  const notRun = checks.filter(({ code }) => code === 'not-run');
  const shown = checks.filter((check) => !evidence.includes(check) && !notRun.includes(check));
  printer.table(
    shown.map((check) => [
      '  ',
      statusWord(check),
      check.id,
      [
        codeWord(check),
        ...Object.entries(check.detail ?? {}).map(([name, value]) => `${name} ${[value].flat().join(', ')}`),
      ]
        .join('  ')
        .trim(),
    ]),
  );
  if (evidence.length > 0)
    printer.line('   ', styled('green', 'passed'), `  ${evidence.length} evidence digests`);
  if (notRun.length > 0)
    printer.line(
      '   ',
      styled('yellow', 'not run'),
      `  ${toCount(notRun.length, 'check')}: each needs a check above that did not pass; \`--json\` lists them`,
    );
  for (const plugin of verified.report.grounds.plugins ?? [])
    printer.line(`    plugin ${plugin.name}  sha256:${plugin.sha256}  ${pluginWords(plugin)}`);
  printModels(printer, verified);
}

/** A check that no one asked for is no failure, so it gets a word of its own. */
function statusWord({ status, code }: Pick<VerifyCheck, 'status' | 'code'>): Part {
  return code === 'not-required' ? styled('dim', 'not needed') : styled(tones[status], status);
}

function codeWord({ status, code }: Pick<VerifyCheck, 'status' | 'code'>): string {
  return code === undefined || code === status || code === 'not-required' ? '' : code;
}

/** Which models led to the change, by the word of the signer. */
function printModels(printer: Printer, { report }: VerifiedTarget): void {
  for (const work of report.grounds.models ?? [])
    for (const [n, words] of modelWords(work).entries())
      printer.line(n === 0 ? '    model  ' : '           ', words);
}

/** The verdict on each range of commits. */
export function printRanges(printer: Printer, verified: readonly VerifiedTarget[]): void {
  for (const { range, commits, verified_commits: held, verified: isGood } of rangesOf(verified)) {
    const word = isGood ? styled('green', 'verified') : styled('red', 'not verified');
    printer.line(word, '  ', styled('bold', range), `  ${held} of ${commits} commits`);
  }
}

/** Most skipped parts of a file that are listed. */
const maxSkippedLines = 20;

/** Prints the parts of files that were not verified, because they are about another subject or type. */
export function printSkipped(printer: Printer, verified: readonly VerifiedTarget[]): void {
  const skipped = verified.flatMap((one) => one.skipped ?? []);
  for (const { target, code, found } of skipped.slice(0, maxSkippedLines))
    printer.line(styled('dim', 'not selected'), `  ${target}  ${code}  found ${found.join(', ')}`);
  const more = skipped.length - maxSkippedLines;
  if (more > 0) printer.line(styled('dim', 'not selected'), `  ${more} more`);
}

/** The verdict on one target, and what it is. */
export function printVerdict(printer: Printer, { target, commit, runId, report }: VerifiedTarget): void {
  const word = report.verified ? styled('green', 'verified') : styled('red', 'not verified');
  printer.line(word, '  ', styled('bold', target), `  ${report.ran} of ${report.expected} checks ran`);
  if (commit !== undefined && commit !== target) printer.line(`  commit ${commit}`);
  if (runId !== undefined && runId !== target) printer.line(`  run ${runId}`);
}

/** The claims about one target as a tree: claim, then evidence, signer, log and rule below it. */
export function printExplanation(
  printer: Printer,
  verified: VerifiedTarget,
  claims: readonly ExplainedClaim[],
): void {
  printVerdict(printer, verified);
  for (const one of claims) {
    const { claim, says, evidence, signer, log, rule } = one;
    const why = codeWord(one) === '' ? '' : `  ${codeWord(one)}`;
    printer.line('  ', styled('bold', claim), '  ', statusWord(one), why);
    const leaves: (readonly [string, string])[] = [
      ['claim', says],
      ...evidence.map(({ name, sha256 }) => ['evidence', `${name}  sha256:${sha256}`] as const),
    ];
    if (signer)
      leaves.push([
        'signer',
        'key_id' in signer
          ? `key ${signer.key_id} (${signer.anchor})`
          : `${signer.identity}, by ${signer.issuer}`,
      ]);
    if (log) leaves.push(['log', `${log.origin}  entry ${log.index} of ${log.size}`]);
    leaves.push(['rule', rule]);
    for (const [n, [name, text]] of leaves.entries())
      printer.line(`    ${n === leaves.length - 1 ? '└' : '├'} ${name.padEnd(9)}`, styled('dim', text));
  }
  printModels(printer, verified);
}
