import { stripVTControlCharacters } from 'node:util';
import { withoutTerminalStrings } from '../../../core/base/terminal-strings.ts';
import type { PrivacyPolicy } from '../../../core/contract/privacy-policy.ts';
import type { SandboxResult } from '../../../core/contract/sandbox.ts';
import type { CheckRecord, OutputTail } from '../../../core/contract/stage.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';

/** What is kept of the output of a failed check, and for how many failed checks of a stage. */
export const tailLimits = { lines: 200, bytes: 16 * 1024, checks: 64 } as const;

/** Characters of a long line that are kept, at its start and end. */
const keptOfLine = { start: 1000, end: 500 } as const;

/** Octets before the tail that are searched for secrets as well: a secret that begins there is found whole. */
const searchedBytes = 256 * 1024;

/**
 * The last lines that a command printed (stdout and stderr in order of arrival), without terminal control sequences and
 * octets that are not UTF-8, redacted; secrets are removed whatever `policy` allows. `undefined` if it printed nothing.
 */
export function outputTail(
  result: Pick<SandboxResult, 'combined'> | undefined,
  policy: Pick<PrivacyPolicy, 'remove' | 'words'>,
): OutputTail | undefined {
  if (result === undefined) return undefined;
  const { bytes, truncated } = result.combined;
  const searched = bytes.subarray(-searchedBytes);
  // What a terminal does not show is removed before the search: a colour within a secret would hide it.
  const decoded = withoutTerminalStrings(searched.toString('utf8').replaceAll('\ufffd', ''));
  const plain = stripVTControlCharacters(decoded)
    .split(/\r*\n/)
    .map(afterReturn)
    .join('\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '');
  const remove = [...new Set([...policy.remove, 'secrets' as const])];
  const whole = redactTexts(plain, { ...policy, remove }).trimEnd();
  if (whole === '') return undefined;
  const text = lastOf(whole);
  return {
    text,
    ...(truncated || searched.length < bytes.length || text !== whole ? { truncated: true as const } : {}),
  };
}

/** Without the output of failed checks beyond `tailLimits.checks`; a report with many failures stays readable. */
export function limitTails(checks: readonly CheckRecord[]): readonly CheckRecord[] {
  let kept = 0;
  return checks.map((check) => {
    const { outputTail: tail, ...others } = check;
    if (tail === undefined || ++kept <= tailLimits.checks) return check;
    return others;
  });
}

/** A line as a terminal leaves it: a carriage return begins the line again, as progress bars do. */
function afterReturn(line: string): string {
  const shown = line.replace(/\r+$/, '');
  return shown.slice(shown.lastIndexOf('\r') + 1);
}

function lastOf(text: string): string {
  const lines = text.split('\n').slice(-tailLimits.lines).map(cutLine);
  let size = 0;
  const from = lines.findLastIndex((line) => {
    size += Buffer.byteLength(line) + 1;
    return size > tailLimits.bytes + 1;
  });
  return lines.slice(from + 1).join('\n');
}

/** A minified source or a dump in one line would leave no room for the lines around it. */
function cutLine(line: string): string {
  const { start, end } = keptOfLine;
  const left = line.length - start - end;
  if (left <= 0) return line;
  return `${line.slice(0, start)} … [${left} characters] … ${line.slice(-end)}`.toWellFormed();
}
