import { findSecrets } from '../../core/privacy/secrets/find-secrets.ts';

const escapes = /\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;

/** Text without the escape sequences that terminals obey. */
export function withoutEscapes(text: string): string {
  return text.includes('\x1b') ? text.replace(escapes, '') : text;
}

/**
 * One line that may stand in a finding: no escape sequences or control characters, at most `maxLength` characters, known
 * secrets blanked out (findings are not redacted later).
 */
export function plainLine(text: string, maxLength = 200): string {
  // Cut well behind what is kept, so that a secret at the cut is still whole enough to be known.
  const line = withoutEscapes(text.slice(0, 16_384))
    .replace(/[\s\x00-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  const shown = blankSecrets(line);
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1).toWellFormed()}…`;
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
