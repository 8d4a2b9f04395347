import { WritError } from '../../core/base/errors.ts';
import type { LogProof } from '../../core/interfaces/sealing.ts';
import { parseBase64, parseBase64Octets } from '../encoding/base64.ts';

/** A C2SP tlog-proof, taken apart. Nothing in it is verified yet. */
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

/** Writes the proof as text; the entry itself goes into the `extra` line, so that the file stands alone. */
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
  if (bytes.length > maxBytes) throw malformed(`expected at most ${maxBytes} octets`);
  const text = Buffer.from(bytes).toString('utf8');
  const split = text.indexOf('\n\n');
  const lines = text.slice(0, Math.max(split, 0)).split('\n');
  if (lines.shift() !== header) throw malformed(`expected \`${header}\` in line 1`);
  let body: Buffer | undefined;
  if (lines[0]?.startsWith('extra ')) {
    body = parseBase64(lines[0].slice('extra '.length));
    if (body === undefined) throw malformed('expected base64 after `extra`');
    lines.shift();
  }
  const index = /^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? '')?.[1];
  if (index === undefined || !Number.isSafeInteger(Number(index))) throw malformed('expected `index N`');
  if (lines.length > 63) throw malformed('expected at most 63 hashes');
  const hashes = lines.map((line) => {
    const hash = parseBase64Octets(line, 32);
    if (hash === undefined) throw malformed('expected hashes of 32 octets in base64');
    return hash;
  });
  return { index: Number(index), hashes, checkpoint: text.slice(split + 2), body };
}

function malformed(found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the log proof cannot be read: ${found}`,
    detail: { what: 'tlog-proof' },
  });
}
