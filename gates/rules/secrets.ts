import type { Finding } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { findSecrets } from '../../core/tool/find-secrets.ts';
import { hunkLines } from '../source/hunk-lines.ts';

const rule = 'secrets';
const maxFindings = 500;

/**
 * Refuses added lines that hold a provider token or a private key. The finding names the format, never the value. Values that documents
 * use as examples (`…EXAMPLE`, one letter repeated) pass; binary files are named as not scanned.
 */
export const judge: RuleFunction = (input) => {
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    if (file.changeType === 'delete') continue;
    if (file.binary)
      findings.push({
        rule,
        severity: 'note',
        message: `\`${file.path}\` is binary and was not scanned`,
        path: file.path,
      });
    else findings.push(...judgeFile(input, file));
    if (findings.length > maxFindings) {
      return [
        ...findings.slice(0, maxFindings),
        { rule, severity: 'error', message: `more than ${maxFindings} findings; the rest is not listed` },
      ];
    }
  }
  return findings;
};

function judgeFile(input: RuleInput, file: PatchFile): readonly Finding[] {
  const { text, lines } = addedText(input, file);
  let index = 0;
  return findSecrets(text)
    .filter((match) => match.kind === 'token' && !isPlaceholder(text.slice(match.start, match.end)))
    .map((match) => {
      // Matches come in order of start, so the lines are walked once.
      while ((lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= match.start) index += 1;
      const place = lines[index] ?? { at: 0, line: 1 };
      const before = Buffer.from(text.slice(place.at, match.start), 'latin1').toString('utf8');
      return {
        rule,
        severity: 'error',
        message: `an added line holds what looks like a secret: ${match.rule}`,
        path: file.path,
        line: place.line,
        column: before.length + 1,
        detail: { format: match.rule },
      };
    });
}

/** Added lines one after the other, so that a key over several lines is whole; a NUL keeps lines apart that are no neighbours. */
function addedText(
  input: RuleInput,
  file: PatchFile,
): { text: string; lines: { at: number; line: number }[] } {
  const diff = Buffer.from(input.patch.diff.buffer, input.patch.diff.byteOffset, input.patch.diff.byteLength);
  const parts: string[] = [];
  const lines: { at: number; line: number }[] = [];
  let length = 0;
  let previous = 0;
  for (const { kind, line, start, end } of hunkLines(input.patch, file)) {
    if (kind !== 'added') continue;
    if (line !== previous + 1) {
      parts.push('\0\n');
      length += 2;
    }
    const part = `${diff.toString('latin1', start, end)}\n`;
    lines.push({ at: length, line });
    parts.push(part);
    length += part.length;
    previous = line;
  }
  return { text: parts.join(''), lines };
}

function isPlaceholder(value: string): boolean {
  if (/EXAMPLE/.test(value)) return true;
  const body = value.replace(/^[A-Za-z]{2,8}[-_.]/, '');
  return new Set(body.toLowerCase().replace(/[-_.]/g, '')).size < 5;
}
