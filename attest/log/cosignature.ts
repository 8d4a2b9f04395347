import { verify } from 'node:crypto';
import { clockSkewMs, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { formatNote, isSignatureOf, type NoteSignature, parseNote } from './note.ts';
import type { WitnessKey } from './witness-key.ts';

/** A witness's word that a checkpoint was the largest consistent one it had seen of that log. */
export interface Cosignature {
  readonly witness: WitnessKey;
  /** When it said so, in POSIX seconds. */
  readonly atSeconds: bigint;
  /** The signature line as found. */
  readonly line: NoteSignature;
}

const timestampBytes = 8;
const signatureBytes = 64;
const maxTimestamp = 2n ** 63n - 1n;

/** What a witness signs: a header, the time and the text of the note (C2SP tlog-cosignature, Ed25519). */
export function cosignedMessage(noteText: string, atSeconds: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${atSeconds}\n${noteText}`);
}

/**
 * Cosignatures of `witnesses` on a checkpoint, one for each witness, its latest. Unknown signers are ignored, and so is
 * a cosignature more than five minutes later than `nowMs`: it says nothing of what the witness has seen until now. A
 * known witness whose signature is wrong voids the note: VERIFY_REFUTED with `detail.reason` `bad-signature`.
 */
export function verifyCosignatures(
  source: string,
  witnesses: readonly WitnessKey[],
  nowMs: number = systemClock.now(),
): readonly Cosignature[] {
  const latest = BigInt(Math.floor((nowMs + clockSkewMs) / 1000));
  const { origin } = parseCheckpoint(source);
  const note = parseNote(source);
  const found = new Map<WitnessKey, Cosignature>();
  for (const line of note.signatures) {
    const witness = witnesses.find((key) => isSignatureOf(key, line));
    if (witness === undefined) continue;
    const atSeconds = verifyLine(note.text, line, witness);
    if (atSeconds === undefined) {
      throw new WritError('VERIFY_REFUTED', {
        message: `the cosignature of \`${witness.name}\` is wrong`,
        detail: { reason: 'bad-signature', origin, witness: witness.name },
      });
    }
    if (atSeconds > latest) continue;
    const earlier = found.get(witness);
    if (earlier === undefined || earlier.atSeconds < atSeconds)
      found.set(witness, { witness, atSeconds, line });
  }
  return [...found.values()];
}

/**
 * The current checkpoint with the cosignatures of `witnesses` that `source` brings. LOG_FAILED where `source` is about
 * another head, VERIFY_REFUTED for a wrong cosignature, and with `not-cosigned` where none of them signed.
 */
export function mergeCosignatures<Head extends Checkpoint>(
  current: Head,
  source: string,
  witnesses: readonly WitnessKey[],
): Head {
  const mine = parseNote(current.source);
  if (parseNote(source).text !== mine.text) {
    const { size } = parseCheckpoint(source);
    throw new WritError('LOG_FAILED', {
      message: `expected the current checkpoint of ${current.size} entries, found another one of ${size}`,
      detail: { size: current.size, found: size },
    });
  }
  const cosignatures = verifyCosignatures(source, witnesses);
  if (cosignatures.length === 0) {
    throw new WritError('VERIFY_REFUTED', {
      message: 'no listed witness signed the checkpoint',
      detail: { reason: 'not-cosigned', origin: current.origin },
    });
  }
  const kept = mine.signatures.filter(
    (line) => !cosignatures.some(({ witness }) => isSignatureOf(witness, line)),
  );
  const lines = [...kept, ...cosignatures.map(({ line }) => line)];
  return { ...current, source: formatNote(mine.text, lines) };
}

/** The time of a valid cosignature; `undefined` for any other line. */
function verifyLine(text: string, { signature }: NoteSignature, witness: WitnessKey): bigint | undefined {
  if (signature.length !== timestampBytes + signatureBytes) return undefined;
  const atSeconds = signature.readBigUInt64BE();
  if (atSeconds > maxTimestamp) return undefined;
  const message = cosignedMessage(text, atSeconds);
  return verify(null, message, witness.key, signature.subarray(timestampBytes)) ? atSeconds : undefined;
}
