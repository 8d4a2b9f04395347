import { WritError } from '../../core/base/errors.ts';
import { parseBase64 } from '../encoding/base64.ts';
import type { NoteKey } from './note-key.ts';

/** One signature line of a note. */
export interface NoteSignature {
  readonly name: string;
  /** First four octets of the key id. */
  readonly keyHint: Buffer;
  readonly signature: Buffer;
}

/** A C2SP signed note, taken apart. Nothing in it is verified yet. */
export interface SignedNote {
  /** The signed text, final newline included. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const maxNoteLength = 64 * 1024;
const maxSignatures = 64;

/** Takes a signed note apart (C2SP signed-note); anything off the format is ATTESTATION_MALFORMED. */
export function parseNote(source: string): SignedNote {
  if (source.length > maxNoteLength) throw malformed(`expected at most ${maxNoteLength} characters`);
  if (/[\u0000-\u0009\u000b-\u001f\ufffd]/.test(source) || !source.isWellFormed()) {
    throw malformed('found a control character or text that is not UTF-8');
  }
  const split = source.lastIndexOf('\n\n');
  if (split <= 0 || !source.endsWith('\n')) throw malformed('expected a blank line and signature lines');
  const lines = source.slice(split + 2, -1).split('\n');
  if (lines.length > maxSignatures) throw malformed(`expected at most ${maxSignatures} signatures`);
  return { text: source.slice(0, split + 1), signatures: lines.map(parseSignatureLine) };
}

function parseSignatureLine(line: string): NoteSignature {
  const match = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/=]+)$/.exec(line);
  const blob = parseBase64(match?.[2] ?? '');
  if (match?.[1] === undefined || blob === undefined || blob.length < 5) {
    throw malformed('expected `— name base64` in each signature line');
  }
  return { name: match[1], keyHint: blob.subarray(0, 4), signature: blob.subarray(4) };
}

/** Writes a note. `text` ends in a newline. */
export function formatNote(text: string, signatures: readonly NoteSignature[]): string {
  const lines = signatures.map(
    ({ name, keyHint, signature }) => `— ${name} ${Buffer.concat([keyHint, signature]).toString('base64')}\n`,
  );
  return `${text}\n${lines.join('')}`;
}

/** True for the signature line that this key makes, whether or not it verifies. */
export function isSignatureOf(key: NoteKey, { name, keyHint }: NoteSignature): boolean {
  return key.name === name && key.keyId.subarray(0, 4).equals(keyHint);
}

function malformed(found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the signed note cannot be read: ${found}`,
    detail: { what: 'note' },
  });
}
