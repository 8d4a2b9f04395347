import type { KeyObject } from 'node:crypto';
import { type NoteKey, noteKeyFor, parseNoteVkey } from './note-key.ts';

/** A log's public key under the log's origin; `keyId` is the sigstore log id. */
export type LedgerKey = NoteKey;

/** Binds an Ed25519 public key to a log name; any other key is KEY_UNUSABLE. */
export function ledgerKeyFor(name: string, key: KeyObject): LedgerKey {
  return noteKeyFor('log', name, key);
}

/** Reads the vkey of a log; ATTESTATION_MALFORMED. */
export function parseVkey(text: string): LedgerKey {
  return parseNoteVkey('log', text);
}
