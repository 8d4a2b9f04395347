import type { ScanResult } from '../../gates/scan/scan-pieces.ts';
import type { ScannedFinding } from '../../gates/scan/show-around.ts';
import { type Printer, type Style, styled } from '../terminal/print.ts';

const most = 200;
const tones: Readonly<Record<ScannedFinding['severity'], Style>> = {
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
  const words = [plural(count('error'), 'error'), plural(count('warning'), 'warning')];
  const suppressed = findings.filter(({ detail }) => detail?.suppressed === true).length;
  if (suppressed > 0) words.push(`${suppressed} suppressed`);
  printer.line(`${words.join(', ')} in ${plural(lines, 'added line')} of ${plural(files, 'file')}`);
  for (const path of paths) printer.line(path);
}

function printFinding(printer: Printer, finding: ScannedFinding): void {
  const { severity, rule, path, line, column, message, around } = finding;
  const place = [path, line, column].filter((part) => part !== undefined).join(':');
  printer.line(
    styled(tones[severity], severity),
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
        styled(tones[severity], '^'),
      );
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
