import type { KeyObject } from 'node:crypto';
import { type NoteKey, noteKeyFor, parseNoteVkey } from './note-key.ts';

/** A witness's public key for `cosignature/v1` (C2SP tlog-cosignature). */
export type WitnessKey = NoteKey;

/** Binds an Ed25519 public key to a witness; any other key is KEY_UNUSABLE. */
export function witnessKeyFor(name: string, key: KeyObject): WitnessKey {
  return noteKeyFor('witness', name, key);
}

/** Reads the vkey of a witness; ATTESTATION_MALFORMED, also for one of another signature type. */
export function parseWitnessVkey(text: string): WitnessKey {
  return parseNoteVkey('witness', text);
}
