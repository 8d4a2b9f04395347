import { sha256Hex } from '../../core/base/digest.ts';
import { withoutTerminalStrings } from '../../core/base/terminal-strings.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';

const escapes = /\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|[@-Z\\^_])/g;

/** Text without the escape sequences that terminals obey. */
export function withoutEscapes(text: string): string {
  return text.includes('\x1b') ? withoutTerminalStrings(text).replace(escapes, '') : text;
}

/**
 * One line that may stand in a finding: no escape sequences or control characters, at most `maxLength` characters,
 * known secrets blanked out (findings are not redacted later).
 */
export function plainLine(text: string, maxLength = 200): string {
  // Cut well behind what is kept, so that a secret at the cut is still whole enough to be known.
  const shown = plainText(text.slice(0, 16_384));
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1).toWellFormed()}…`;
}

/**
 * The name of a test as one line that may stand in a finding. One that is longer ends in a digest of all of it, so that
 * comparing names compares them whole.
 */
export function plainName(text: string, maxLength = 200): string {
  return boundedName(plainText(text), maxLength);
}

/** A line that `plainName` gave, or several of them together. */
export function boundedName(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line;
  const digest = sha256Hex(line).slice(0, 16);
  return `${line.slice(0, maxLength - digest.length - 2).toWellFormed()}…#${digest}`;
}

function plainText(text: string): string {
  // A JSON report can name half a character, which no record can hold.
  const line = withoutEscapes(text.toWellFormed())
    .replace(/[\s\x00-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return blankSecrets(line);
}

function blankSecrets(text: string): string {
  // Nothing that short is a secret.
  if (text.length < 12) return text;
  const bytes = Buffer.from(text);
  const shown: Buffer[] = [];
  let at = 0;
  for (const { start, end } of findSecrets(bytes)) {
    if (end <= at) continue;
    if (start > at) shown.push(bytes.subarray(at, start));
    if (start >= at) shown.push(Buffer.from('[secret]'));
    at = end;
  }
  return at === 0 ? text : Buffer.concat([...shown, bytes.subarray(at)]).toString('utf8');
}
