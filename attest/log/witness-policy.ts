/* Witnesses: their cosignatures (C2SP tlog-cosignature) and the policies that require them (C2SP tlog-policy). */
import { verify } from 'node:crypto';
import { clockSkewMs, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Checkpoint, parseCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import {
  formatNote,
  isSignatureOf,
  type LedgerKey,
  type NoteSignature,
  parseNote,
  parseVkey,
  parseWitnessVkey,
} from './note.ts';

/** A rule over witnesses: one of them, or at least `threshold` of several rules. */
type Quorum =
  | { readonly witness: LedgerKey }
  | { readonly threshold: number; readonly members: readonly Quorum[] };

/** A witness of a policy, and where checkpoints are submitted to it (C2SP tlog-witness). */
export interface PolicyWitness extends LedgerKey {
  readonly url?: string;
}

/** The logs and witnesses to trust (C2SP tlog-policy). */
export interface TlogPolicy {
  /** May be empty where the log is known from elsewhere. */
  readonly logs: readonly LedgerKey[];
  readonly witnesses: readonly PolicyWitness[];
  /** `none`: no cosignature is required. */
  readonly quorum: Quorum | 'none';
}

const maxBytes = 256 * 1024;
const maxLines = 1024;

/** Parses a policy. Throws ATTESTATION_MALFORMED with the line number. URLs are kept as they are. */
export function parseTlogPolicy(bytes: Uint8Array): TlogPolicy {
  if (bytes.length > maxBytes) throw malformed(0, `expected at most ${maxBytes} octets`);
  // Names are octets to this format: as Latin-1, two of them are equal only where their octets are.
  const text = Buffer.from(bytes).toString('latin1');
  const lines = text.split('\n');
  if (lines.length > maxLines) throw malformed(0, `expected at most ${maxLines} lines`);
  const logs: LedgerKey[] = [];
  const witnesses: PolicyWitness[] = [];
  const rules = new Map<string, Quorum>();
  const members = new Set<string>();
  let quorum: TlogPolicy['quorum'] | undefined;

  for (const [at, line] of lines.entries()) {
    const refuse = (found: string): WritError => malformed(at + 1, found);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(line)) throw refuse('found a control character');
    const [kind, ...words] = line.split(/[\t ]+/).filter((word) => word !== '');
    if (kind === undefined || kind.startsWith('#')) continue;
    if (kind === 'log') {
      const [vkey, ...more] = words;
      if (vkey === undefined || more.length > 1) throw refuse('expected `log VKEY [URL]`');
      logs.push(newKey(at + 1, vkey, parseVkey, logs));
    } else if (kind === 'witness') {
      const [name, vkey, ...more] = words;
      if (name === undefined || vkey === undefined || more.length > 1)
        throw refuse('expected `witness NAME VKEY [URL]`');
      const witness = newKey(at + 1, vkey, parseWitnessVkey, witnesses);
      define(at + 1, name, { witness });
      witnesses.push(more[0] === undefined ? witness : { ...witness, url: more[0] });
    } else if (kind === 'group') {
      const [name, count, ...names] = words;
      const threshold = count === 'all' ? names.length : count === 'any' ? 1 : parseCount(count);
      if (name === undefined || names.length === 0 || threshold === undefined || threshold > names.length)
        throw refuse('expected `group NAME all|any|K NAME…` with K up to the number of names');
      const grouped = names.map((member) => {
        if (members.has(member)) throw refuse('a name is a member twice');
        members.add(member);
        return ruleOf(at + 1, member);
      });
      define(at + 1, name, { threshold, members: grouped });
    } else if (kind === 'quorum') {
      const [name, ...more] = words;
      if (name === undefined || more.length > 0) throw refuse('expected `quorum NAME`');
      if (quorum !== undefined) throw refuse('found a second quorum');
      quorum = name === 'none' ? 'none' : ruleOf(at + 1, name);
    } else throw refuse('expected `log`, `witness`, `group` or `quorum`');
  }
  if (quorum === undefined) throw malformed(lines.length, 'expected a `quorum` line');
  return { logs, witnesses, quorum };

  function define(line: number, name: string, rule: Quorum): void {
    if (name === 'none' || rules.has(name)) throw malformed(line, 'the name is taken');
    rules.set(name, rule);
  }

  function ruleOf(line: number, name: string): Quorum {
    const rule = rules.get(name);
    if (rule === undefined) throw malformed(line, 'a name is not defined on a line above');
    return rule;
  }
}

/** True where these witnesses satisfy the quorum; each counts once, however often it signed. */
function isQuorum(quorum: TlogPolicy['quorum'], signed: readonly LedgerKey[]): boolean {
  if (quorum === 'none') return true;
  if ('witness' in quorum) return signed.some(({ vkey }) => vkey === quorum.witness.vkey);
  return quorum.members.filter((member) => isQuorum(member, signed)).length >= quorum.threshold;
}

function parseCount(text: string | undefined): number | undefined {
  return /^[1-9][0-9]{0,3}$/.test(text ?? '') ? Number(text) : undefined;
}

/** Reads a key. One public key under two names could sign twice. */
function newKey(
  line: number,
  octets: string,
  parse: (text: string) => LedgerKey,
  others: readonly LedgerKey[],
): LedgerKey {
  let read: LedgerKey;
  try {
    read = parse(Buffer.from(octets, 'latin1').toString('utf8'));
  } catch (cause) {
    throw malformed(line, 'expected the vkey of an Ed25519 key for that use', cause);
  }
  if (others.some(({ key }) => key.equals(read.key))) throw malformed(line, 'a key is listed twice');
  return read;
}

function malformed(line: number, found: string, cause?: unknown): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the log policy cannot be read: ${found} (line ${line})`,
    detail: { what: 'tlog-policy', line },
    cause,
  });
}

/** A checkpoint that its log signed and enough witnesses cosigned. */
interface WitnessedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly cosignatures: readonly Cosignature[];
}

/**
 * Verifies a checkpoint by a policy: signed by one of `logs` (default those of the policy) and cosigned by a quorum,
 * not later than `nowMs`. VERIFY_REFUTED with `detail.reason` `untrusted-log`, `bad-signature` or `no-quorum`, the
 * latter with the witnesses that signed, and those that signed at a time that has not come.
 */
export function verifyByPolicy(
  source: string,
  policy: TlogPolicy,
  logs: readonly LedgerKey[] = policy.logs,
  nowMs: number = systemClock.now(),
): WitnessedCheckpoint {
  const checkpoint = verifyCheckpoint(source, logs);
  const cosignatures = verifyCosignatures(source, policy.witnesses, nowMs);
  const signed = cosignatures.map(({ witness }) => witness);
  if (isQuorum(policy.quorum, signed)) return { checkpoint, cosignatures };
  const early = verifyCosignatures(source, policy.witnesses, Number.MAX_SAFE_INTEGER)
    .map(({ witness }) => witness)
    .filter((witness) => !signed.includes(witness));
  throw new WritError('VERIFY_REFUTED', {
    message: `the checkpoint lacks a quorum: ${signed.length} of ${policy.witnesses.length} known witnesses signed it`,
    detail: {
      reason: 'no-quorum',
      origin: checkpoint.origin,
      signed: signed.map(({ name }) => name),
      ...(early.length > 0 && { later_than_now: early.map(({ name }) => name) }),
    },
  });
}

/** A witness's word that a checkpoint was the largest consistent one it had seen of that log. */
interface Cosignature {
  readonly witness: LedgerKey;
  /** Time of the cosignature, in POSIX seconds. */
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
 * Verifies the cosignatures of `witnesses` on a checkpoint and returns the latest one of each witness. Unknown
 * signers are ignored.
 *
 * A cosignature more than five minutes after `nowMs` is ignored too: it cannot show what the witness has seen until
 * now. If a known witness's signature is wrong, the note is invalid: VERIFY_REFUTED with `detail.reason`
 * `bad-signature`.
 */
export function verifyCosignatures(
  source: string,
  witnesses: readonly LedgerKey[],
  nowMs: number = systemClock.now(),
): readonly Cosignature[] {
  const latest = BigInt(Math.floor((nowMs + clockSkewMs) / 1000));
  const { origin } = parseCheckpoint(source);
  const note = parseNote(source);
  const found = new Map<LedgerKey, Cosignature>();
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
  witnesses: readonly LedgerKey[],
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
function verifyLine(text: string, { signature }: NoteSignature, witness: LedgerKey): bigint | undefined {
  if (signature.length !== timestampBytes + signatureBytes) return undefined;
  const atSeconds = signature.readBigUInt64BE();
  if (atSeconds > maxTimestamp) return undefined;
  const message = cosignedMessage(text, atSeconds);
  return verify(null, message, witness.key, signature.subarray(timestampBytes)) ? atSeconds : undefined;
}
