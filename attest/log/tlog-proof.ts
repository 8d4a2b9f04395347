/* The C2SP tlog-proof: the log entry of a run, and why it is in the log, in one text file. */
import { isWritError } from '../../core/base/errors.ts';
import type { LogProof } from '../../core/interfaces/sealing.ts';
import { parseBase64, parseBase64Octets } from '../encoding/expect-json.ts';
import { type Checkpoint, checkpointIn } from './checkpoint.ts';
import { unreadable } from './note.ts';

/** A parsed C2SP tlog-proof. Nothing in it is verified yet. */
export interface TlogProof {
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
