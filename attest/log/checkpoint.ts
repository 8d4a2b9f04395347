/* Tree heads of logs (C2SP tlog-checkpoint): reads, verifies and signs them. */
import { verify } from 'node:crypto';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { LogProof, Signer } from '../../core/interfaces/sealing.ts';
import { parseBase64, parseBase64Octets } from '../encoding/expect-json.ts';
import { formatNote, isNoteName, isSignatureOf, type LedgerKey, parseNote, unreadable } from './note.ts';

/** A tree head of a log (C2SP tlog-checkpoint). */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
  /** The signed note that contains this checkpoint. */
  readonly source: string;
}

/** A checkpoint that was shown to be signed, and by which key of its log. */
export interface SignedCheckpoint extends Checkpoint {
  readonly keyId: Buffer;
}

/**
 * Reads a checkpoint without verifying its signatures; ATTESTATION_MALFORMED, also for an origin that `isOrigin`
 * declines.
 */
export function parseCheckpoint(
  source: string,
  isOrigin: (origin: string) => boolean = isNoteName,
): Checkpoint {
  const lines = parseNote(source).text.slice(0, -1).split('\n');
  const [origin = '', size = '', root = '', ...extensions] = lines;
  if (!isOrigin(origin)) throw unreadable('checkpoint', 'checkpoint', 'expected an origin in line 1');
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw unreadable('checkpoint', 'checkpoint', 'expected a tree size in line 2');
  }
  const rootHash = parseBase64Octets(root, 32);
  if (rootHash === undefined)
    throw unreadable('checkpoint', 'checkpoint', 'expected a root hash of 32 octets in line 3');
  if (extensions.includes('')) throw unreadable('checkpoint', 'checkpoint', 'found an empty extension line');
  return { origin, size: Number(size), root: rootHash, source };
}

/** The checkpoint in these bytes or this text, its signatures not verified; `undefined` where there is none. */
export function checkpointIn(source: Uint8Array | string | undefined): Checkpoint | undefined {
  if (source === undefined) return undefined;
  try {
    return parseCheckpoint(Buffer.from(source as Uint8Array).toString('utf8'));
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}

/**
 * Parses a checkpoint and requires a signature by one of `keys` under the log's name. Unknown signers are ignored. If
 * a known signer's signature is wrong, the note is invalid. Throws VERIFY_REFUTED with `detail.reason`
 * `untrusted-log` or `bad-signature`.
 */
export function verifyCheckpoint(source: string, keys: readonly LedgerKey[]): SignedCheckpoint {
  const checkpoint = parseCheckpoint(source);
  const note = parseNote(source);
  const text = Buffer.from(note.text);
  let signer: LedgerKey | undefined;
  for (const line of note.signatures) {
    const known = keys.find((key) => isSignatureOf(key, line));
    if (known === undefined) continue;
    if (!verify(null, text, known.key, line.signature)) {
      throw refutedLog('bad-signature', 'a signature of the checkpoint is wrong', {
        origin: checkpoint.origin,
      });
    }
    if (known.name === checkpoint.origin) signer ??= known;
  }
  if (signer === undefined)
    throw refutedLog('untrusted-log', 'no trusted key signed the checkpoint', { origin: checkpoint.origin });
  return { ...checkpoint, keyId: signer.keyId };
}

/** Signs a tree head. `key` is the public side of `signer`, under the log's name. */
export async function signCheckpoint(
  head: { readonly size: number; readonly root: Uint8Array },
  signer: Signer,
  key: LedgerKey,
): Promise<SignedCheckpoint> {
  const root = Buffer.from(head.root);
  const text = `${key.name}\n${head.size}\n${root.toString('base64')}\n`;
  const signature = Buffer.from(await signer.sign(Buffer.from(text)));
  const source = formatNote(text, [{ name: key.name, keyHint: key.keyId.subarray(0, 4), signature }]);
  return { origin: key.name, size: head.size, root, source, keyId: key.keyId };
}

/** VERIFY_REFUTED about what a log signed. */
export function refutedLog(
  reason: string,
  message: string,
  detail: Readonly<Record<string, unknown>>,
): WritError {
  return new WritError('VERIFY_REFUTED', { message, detail: { reason, ...detail } });
}

/* The C2SP tlog-proof: the log entry of a run, and why it is in the log, in one text file. */

/** A parsed, unverified C2SP tlog-proof. */
interface TlogProof {
  readonly index: number;
  readonly hashes: readonly Buffer[];
  /** Signed note, verbatim. */
  readonly checkpoint: string;
  /** The logged entry (our use of the `extra` line); untrusted until its leaf hash leads to the root. */
  readonly body: Buffer | undefined;
}

const header = 'c2sp.org/tlog-proof@v1';
const maxBytes = 256 * 1024;

/** Writes the proof as text. The `extra` line holds the entry itself, so that the file is complete. */
export function formatTlogProof(proof: LogProof): string {
  const lines = [
    header,
    `extra ${Buffer.from(proof.body).toString('base64')}`,
    `index ${proof.logIndex}`,
    ...proof.hashes.map((hash) => Buffer.from(hash).toString('base64')),
  ];
  return `${lines.join('\n')}\n\n${proof.checkpoint}`;
}

/** Reads the text form (C2SP tlog-proof); anything off it is ATTESTATION_MALFORMED. */
export function parseTlogProof(bytes: Uint8Array): TlogProof {
  if (bytes.length > maxBytes)
    throw unreadable('log proof', 'tlog-proof', `expected at most ${maxBytes} octets`);
  const text = Buffer.from(bytes).toString('utf8');
  const split = text.indexOf('\n\n');
  const lines = text.slice(0, Math.max(split, 0)).split('\n');
  if (lines.shift() !== header)
    throw unreadable('log proof', 'tlog-proof', `expected \`${header}\` in line 1`);
  let body: Buffer | undefined;
  if (lines[0]?.startsWith('extra ')) {
    body = parseBase64(lines[0].slice('extra '.length));
    if (body === undefined) throw unreadable('log proof', 'tlog-proof', 'expected base64 after `extra`');
    lines.shift();
  }
  const index = /^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? '')?.[1];
  if (index === undefined || !Number.isSafeInteger(Number(index)))
    throw unreadable('log proof', 'tlog-proof', 'expected `index N`');
  if (lines.length > 63) throw unreadable('log proof', 'tlog-proof', 'expected at most 63 hashes');
  const hashes = lines.map((line) => {
    const hash = parseBase64Octets(line, 32);
    if (hash === undefined)
      throw unreadable('log proof', 'tlog-proof', 'expected hashes of 32 octets in base64');
    return hash;
  });
  return { index: Number(index), hashes, checkpoint: text.slice(split + 2), body };
}

/** The checkpoint of a proof, its signatures not verified; `undefined` for a proof that cannot be read. */
export function checkpointOfProof(proof: Uint8Array): Checkpoint | undefined {
  try {
    return checkpointIn(parseTlogProof(proof).checkpoint);
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
