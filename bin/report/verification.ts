import { rangesOf } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import type { VerifyCheck } from '../../attest/verify/report.ts';
import { type Printer, type Style, styled } from '../terminal/print.ts';
import { pluginWords } from './words.ts';

/** The colour of each status. */
export const tones: Readonly<Record<VerifyCheck['status'], Style>> = {
  passed: 'green',
  expired: 'yellow',
  missing: 'yellow',
  unverified: 'yellow',
  failed: 'red',
};

/** What was verified of one target; every evidence digest that holds is counted instead of listed. */
export function printVerification(printer: Printer, verified: VerifiedTarget): void {
  printVerdict(printer, verified);
  const { checks } = verified.report;
  const evidence = checks.filter(({ id, status }) => id.startsWith('evidence:') && status === 'passed');
  const shown = checks.filter((check) => !evidence.includes(check));
  printer.table(
    shown.map((check) => [
      '  ',
      styled(tones[check.status], check.status),
      check.id,
      [
        check.code === undefined || check.code === check.status ? '' : check.code,
        ...Object.entries(check.detail ?? {}).map(([name, value]) => `${name} ${[value].flat().join(', ')}`),
      ]
        .join('  ')
        .trim(),
    ]),
  );
  if (evidence.length > 0)
    printer.line('   ', styled('green', 'passed'), `  ${evidence.length} evidence digests`);
  for (const plugin of verified.report.grounds.plugins ?? [])
    printer.line(`    plugin ${plugin.name}  sha256:${plugin.sha256}  ${pluginWords(plugin)}`);
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
