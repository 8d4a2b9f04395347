/* Signed notes (C2SP signed-note), and the Ed25519 keys of logs and witnesses that sign them. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseBase64 } from '../encoding/expect-json.ts';

/** One signature line of a note. */
export interface NoteSignature {
  readonly name: string;
  /** First four octets of the key id. */
  readonly keyHint: Buffer;
  readonly signature: Buffer;
}

/** A parsed, unverified C2SP signed note. */
interface SignedNote {
  /** The signed text, final newline included. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const maxNoteLength = 64 * 1024;
const maxSignatures = 64;

/** Parses a signed note (C2SP signed-note); anything off the format is ATTESTATION_MALFORMED. */
export function parseNote(source: string): SignedNote {
  if (source.length > maxNoteLength)
    throw unreadable('signed note', 'note', `expected at most ${maxNoteLength} characters`);
  if (/[\u0000-\u0009\u000b-\u001f\ufffd]/.test(source) || !source.isWellFormed()) {
    throw unreadable('signed note', 'note', 'found a control character or text that is not UTF-8');
  }
  const split = source.lastIndexOf('\n\n');
  if (split <= 0 || !source.endsWith('\n'))
    throw unreadable('signed note', 'note', 'expected a blank line and signature lines');
  const lines = source.slice(split + 2, -1).split('\n');
  if (lines.length > maxSignatures)
    throw unreadable('signed note', 'note', `expected at most ${maxSignatures} signatures`);
  return { text: source.slice(0, split + 1), signatures: lines.map(parseSignatureLine) };
}

function parseSignatureLine(line: string): NoteSignature {
  const match = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/=]+)$/.exec(line);
  const blob = parseBase64(match?.[2] ?? '');
  if (match?.[1] === undefined || blob === undefined || blob.length < 5) {
    throw unreadable('signed note', 'note', 'expected `— name base64` in each signature line');
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
export function isSignatureOf(key: LedgerKey, { name, keyHint }: NoteSignature): boolean {
  return key.name === name && key.keyId.subarray(0, 4).equals(keyHint);
}

/** ATTESTATION_MALFORMED for a document of a log that is off its format. */
export function unreadable(name: string, what: string, found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the ${name} cannot be read: ${found}`,
    detail: { what },
  });
}

/**
 * An Ed25519 public key under the name that it signs notes by (C2SP signed-note): a log's under its origin, `keyId`
 * being the sigstore log id, or a witness's for `cosignature/v1` (C2SP tlog-cosignature).
 */
export interface LedgerKey {
  readonly name: string;
  /** SHA-256(name ‖ LF ‖ type ‖ key): its first four octets are the key hint. */
  readonly keyId: Buffer;
  readonly key: KeyObject;
  /** `name+hint+base64(type ‖ key)`: what people pin. */
  readonly vkey: string;
}

/** Type octet in key ids and vkeys: `log` signs checkpoints of its log, `witness` cosigns those of other logs. */
const noteKeyTypes = { log: 0x01, witness: 0x04 } as const;
type NoteKeyType = keyof typeof noteKeyTypes;

/** Binds an Ed25519 public key to a name and a use; any other key is KEY_UNUSABLE. */
function noteKeyFor(type: NoteKeyType, name: string, key: KeyObject): LedgerKey {
  const raw = rawEd25519(key, type);
  if (!isNoteName(name))
    throw unreadable(`${type} key`, 'vkey', 'expected a name without white space or `+`');
  const typed = Buffer.concat([Buffer.of(noteKeyTypes[type]), raw]);
  const keyId = sha256(Buffer.concat([Buffer.from(`${name}\n`), typed]));
  const hint = keyId.subarray(0, 4).toString('hex');
  return { name, keyId, key, vkey: `${name}+${hint}+${typed.toString('base64')}` };
}

/**
 * Reads vkey text of that use and recomputes its key hint; ATTESTATION_MALFORMED where they differ or it is of another
 * use.
 */
function parseNoteVkey(type: NoteKeyType, text: string): LedgerKey {
  const match = /^([^\s+]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,128})$/.exec(text.trim());
  const typed = parseBase64(match?.[3] ?? '');
  if (match?.[1] === undefined || typed?.length !== 33 || typed[0] !== noteKeyTypes[type]) {
    throw unreadable(`${type} key`, 'vkey', 'expected `name+hint+base64` with an Ed25519 key');
  }
  const x = typed.subarray(1).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const noteKey = noteKeyFor(type, match[1], key);
  if (noteKey.keyId.subarray(0, 4).toString('hex') !== match[2])
    throw unreadable(`${type} key`, 'vkey', 'the hint does not fit the key');
  return noteKey;
}

/** True for a name that a signed note can carry: visible, no `+`, at most 255 characters. */
export function isNoteName(name: string): boolean {
  return /^[^\s+\p{C}]{1,255}$/u.test(name);
}

function rawEd25519(key: KeyObject, type: NoteKeyType): Buffer {
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new WritError('KEY_UNUSABLE', {
      message: `a ${type} key must be Ed25519, found \`${key.asymmetricKeyType ?? key.type}\``,
    });
  }
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');
}

/** Binds an Ed25519 public key to a log name; any other key is KEY_UNUSABLE. */
export function ledgerKeyFor(name: string, key: KeyObject): LedgerKey {
  return noteKeyFor('log', name, key);
}

/** Reads the vkey of a log; ATTESTATION_MALFORMED. */
export function parseVkey(text: string): LedgerKey {
  return parseNoteVkey('log', text);
}

/** Binds an Ed25519 public key to a witness; any other key is KEY_UNUSABLE. */
export function witnessKeyFor(name: string, key: KeyObject): LedgerKey {
  return noteKeyFor('witness', name, key);
}

/** Reads the vkey of a witness; ATTESTATION_MALFORMED, also for one of another signature type. */
export function parseWitnessVkey(text: string): LedgerKey {
  return parseNoteVkey('witness', text);
}
