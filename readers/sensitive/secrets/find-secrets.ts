/* Finds secrets in bytes. */

import { decodedRuns } from '../encoded-text.ts';
import type { SecretMatch } from './secret-patterns.ts';
import { attemptsAt, joint, secretPlaces } from './secret-table.ts';

/**
 * The text between two joined string literals: a quote, an operator of some language or none, a quote. A line may end
 * between them.
 */
const literalJoint =
  /\\{0,2}["'`][ \t]{0,40}(?:\+\+?|\.\.?|&|<>|\\)?\s{0,60}(?:(?:\+\+?|\.\.?|&|<>)[ \t]{0,8})?(?:[bfru]{1,2}(?=["']))?\\{0,2}["'`]/g;
const piece = /[\w.+/=~%-]{1,400}/y;
const maxPieces = 4096;

/** Text of one row of joined literals, with the offset of each of its characters. */
interface JoinedRow {
  readonly text: string;
  /** Offset in the whole text of a character of `text`. */
  at(index: number): number;
  /** Where pieces meet in `text`. */
  readonly joints: readonly number[];
}

/** Every row of pieces of a token that text joins. Linear: a piece is read once. */
function* joinedRows(text: string): Generator<JoinedRow> {
  let pieces: { readonly from: number; readonly to: number }[] = [];
  literalJoint.lastIndex = 0;
  for (let found = literalJoint.exec(text); found; found = literalJoint.exec(text)) {
    const before = pieces.at(-1);
    const from = literalJoint.lastIndex;
    piece.lastIndex = from;
    const to = piece.test(text) ? piece.lastIndex : from;
    if (before === undefined || before.to !== found.index || pieces.length >= maxPieces) {
      if (pieces.length > 1) yield toRow(text, pieces);
      pieces = [{ from: pieceStart(text, found.index), to: found.index }];
    }
    if (to > from) pieces.push({ from, to });
    // The quote that ends one piece may begin the next literalJoint.
    literalJoint.lastIndex = to;
  }
  if (pieces.length > 1) yield toRow(text, pieces);
}

function pieceStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < 400 && isTokenCode(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function isTokenCode(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    (code < 127 && '_.+/=~%-'.includes(String.fromCharCode(code)))
  );
}

function toRow(text: string, pieces: readonly { readonly from: number; readonly to: number }[]): JoinedRow {
  const joints: number[] = [];
  let joined = '';
  for (const { from, to } of pieces) {
    if (joined !== '') joints.push(joined.length);
    joined += text.slice(from, to);
  }
  return {
    text: joined,
    joints,
    at(index) {
      let left = index;
      for (const { from, to } of pieces) {
        if (left <= to - from) return from + left;
        left -= to - from;
      }
      return pieces.at(-1)?.to ?? 0;
    },
  };
}

const certainty = { assigned: 0, context: 1, token: 2 };

/**
 * Finds every known token, private key and assigned secret in bytes, in order of start; matches may overlap. Linear:
 * each form is tried only at its anchors and reads at most `maxSecretBytes`. Also finds tokens and keys under one
 * layer of encoding, and tokens split over adjacent literals. The path of a file may mark it as a password file
 * (`.netrc`).
 */
export function findSecrets(bytes: Uint8Array, text = latin1Of(bytes), path = ''): readonly SecretMatch[] {
  const found = [...passwordsByName(path, text)];
  let hasJoint = false;
  for (const at of secretPlaces(bytes)) {
    for (const attempt of attemptsAt(text, at)) {
      hasJoint ||= attempt === joint;
      const match = attempt(text, at);
      if (match) found.push(match);
    }
  }
  if (hasJoint) found.push(...cutSecrets(text));
  found.push(...encodedSecrets(bytes, text));
  return found.sort((a, b) => a.start - b.start || b.end - a.end || certainty[b.kind] - certainty[a.kind]);
}

/** Tokens, keys and registry log-ins under one layer of encoding; the match is the whole encoded run. */
function* encodedSecrets(bytes: Uint8Array, text: string): Generator<SecretMatch> {
  const runs = decodedRuns(bytes, text, true);
  if (runs === undefined) return;
  const decoded = latin1Of(runs.bytes);
  for (const at of secretPlaces(runs.bytes))
    for (const attempt of attemptsAt(decoded, at)) {
      const match = attempt(decoded, at);
      if (match === undefined || (match.kind !== 'token' && match.rule !== 'registry-auth')) continue;
      const { rule, kind } = match;
      const value = decoded.slice(match.start, match.end);
      for (const { start, end } of runs.runsOf({ start: at, end: at + 1 }))
        yield { rule, kind, start, end, value, wrapped: 'encoded' };
    }
}

/** Tokens that reach over a joint of literals. */
function cutSecrets(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  for (const row of joinedRows(text)) {
    if (row.text.length < 20) continue;
    const { text: joined, joints } = row;
    for (let at = 0; at + 4 <= joined.length; at += 1) {
      for (const attempt of attemptsAt(joined, at)) {
        const match = attempt(joined, at);
        if (match?.kind !== 'token' || match.wrapped) continue;
        if (!joints.some((joint) => joint > match.start && joint < match.end)) continue;
        const value = joined.slice(match.start, match.end);
        found.push({ ...match, start: row.at(match.start), end: row.at(match.end), value, wrapped: 'cut' });
      }
    }
  }
  return found;
}

/** Bytes as text in which an offset is one of the bytes. */
export function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** `host:port:database:user:password` (PostgreSQL); a line has no other mark. */
const passwordFile = /(?:^|\/)(?:\.pgpass|pgpass\.conf)$/i;
const passwordLine = /^(?!#)(?:(?:[^:\\\n]|\\.){1,200}:){4}([^\n]{1,256})$/gm;

/** Fields of a `.netrc` come in any order, for a host or for every other one. */
const loginFile = /(?:^|\/)[._]?netrc$/i;
const loginField = /(?:^|[ \t])password[ \t]{1,40}"?([^\s"'`]{1,256})/gm;

/**
 * Returns the passwords of a file with a name that implies them; none for any other file. Offsets are those of
 * `text`.
 */
function passwordsByName(path: string, text: string): readonly SecretMatch[] {
  if (passwordFile.test(path)) return valuesOf('pgpass-password', passwordLine, text);
  return loginFile.test(path) ? valuesOf('netrc-password', loginField, text) : [];
}

/** Each value ends its match. */
function valuesOf(rule: string, form: RegExp, text: string): readonly SecretMatch[] {
  return [...text.matchAll(form)].map(({ 0: { length }, 1: value = '', index }) => ({
    rule,
    kind: 'context',
    start: index + length - value.length,
    end: index + length,
  }));
}
