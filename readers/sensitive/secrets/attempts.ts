import { findAssigned } from './assigned-secret.ts';
import { type CodedReader, readCoded } from './encoded-forms.ts';
import { leadOf } from './lead-of.ts';
import { findPrivateKey, keyAround } from './private-key.ts';
import type { SecretMatch } from './secret-match.ts';
import { type SecretPattern, secretPatterns } from './secret-patterns.ts';

/** Of characters under an encoding: the longest token, and the longest key. */
const maxEncodedToken = 640;
const maxEncodedKey = 6 * 1024;

/** Looks for one form of secret at an offset of a latin1 text. */
export type Attempt = (text: string, at: number) => SecretMatch | undefined;

/** How far around a head a secret may reach: near, far, or the longest way. */
export type ReachLetter = 'n' | 'f' | 'l';

/**
 * An attempt as the generated tables hold it. The first letter says what is tried; P is the number of a pattern:
 * - `hP`: the pattern here; `lP`: the pattern one character further on, behind its lead
 * - `wP,OFFSET,ANCHOR`: the pattern at a long anchor, of which the head is a part
 * - `k`: a private key; `n`: a value that is assigned to a name
 * - `cFIND,READER,ANCHOR`: text that begins with the anchor is decoded, and FIND is tried in it: `P`, `P-3` for the
 *   pattern three characters before, or `k` for a key; `C` as `c`, for what is as long as a key
 */
export function parseAttempt(line: string): Attempt {
  const rest = line.slice(1);
  switch (line.charAt(0)) {
    case 'h':
      return patternAttempt(rest);
    case 'l':
      return patternAttempt(rest, 1);
    case 'w':
      return windowAttempt(rest);
    case 'k':
      return findPrivateKey;
    case 'n':
      return findAssigned;
    case 'c':
      return codedAttempt(rest, maxEncodedToken);
    case 'C':
      return codedAttempt(rest, maxEncodedKey);
    default:
      throw new RangeError(`the generated tables hold \`${line}\`, which is no attempt`);
  }
}

/** Whether the attempt decodes what it reads. */
export function isCoded(line: string): boolean {
  return line.startsWith('c') || line.startsWith('C');
}

/** The anchor that the attempt compares; empty where the head is all of it. */
export function anchorIn(line: string): string {
  return fieldsOf(line)[2] ?? '';
}

function windowAttempt(rest: string): Attempt {
  const [number = '', offsetText, anchor = ''] = fieldsOf(rest);
  const attempt = patternAttempt(number);
  const offset = Number(offsetText);
  return (text, at) =>
    at >= offset && text.startsWith(anchor, at - offset) ? attempt(text, at - offset) : undefined;
}

function codedAttempt(rest: string, most: number): Attempt {
  const [find = '', reader, anchor = ''] = fieldsOf(rest);
  const [number = '', back = '0'] = find.split('-');
  const attempt = find === 'k' ? keyAround : patternAttempt(number, -Number(back));
  return (text, at) => {
    if (!text.startsWith(anchor, at)) return undefined;
    const decoded = readCoded(reader as CodedReader, text, at, most);
    const match = decoded && attempt(decoded.text, decoded.at);
    if (!match) return undefined;
    const value = decoded.text.slice(match.start, match.end);
    const { start, end } = decoded;
    return { rule: match.rule, kind: match.kind, start, end, value, wrapped: 'encoded' };
  };
}

/** Three fields; the last one may hold commas. */
function fieldsOf(line: string): readonly string[] {
  const [first = '', second = '', ...rest] = line.split(',');
  return [first, second, rest.join(',')];
}

function patternAttempt(number: string, shift = 0): Attempt {
  const pattern = secretPatterns[Number(number)];
  if (pattern === undefined)
    throw new RangeError(`the generated tables name pattern ${number}, which is none`);
  return (text, at) => tryPattern(text, at + shift, pattern);
}

function tryPattern(text: string, at: number, pattern: SecretPattern): SecretMatch | undefined {
  if (pattern.bounded && at > 0 && isWordByte(text.charCodeAt(at - 1))) return undefined;
  pattern.form.lastIndex = at;
  const match = pattern.form.exec(text);
  if (!match) return undefined;
  const end = at + match[0].length;
  const start = match[1] === undefined ? at - leadOf(text, at, pattern) : end - match[1].length;
  return { rule: pattern.rule, kind: pattern.kind, start, end };
}

function isWordByte(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
  );
}
