/* Vouches for journals with a MAC, so that a journal written by others is recognised. */
import { createHmac } from 'node:crypto';
import { equalSecret, sha256Hex } from '../core/base/canonical.ts';
import { randomOctets } from '../core/base/ids.ts';
import { firstPrev, type JournalRecord, type ParsedJournal } from './parse-journal.ts';

/** How far a journal reached at its last write here. */
export interface JournalReach {
  /** 0: opened, but without a record. */
  readonly records: number;
  /** SHA-256 of the last line, without its newline; 64 zeros without a line. */
  readonly digest: string;
}

export interface Voucher {
  /** Lower-case hex HMAC-SHA-256 over the subject and a line. */
  vouch(line: string): string;
  /** Compares in constant time. */
  vouched(line: string, mac: string): boolean;
}

/**
 * Vouches for the journals that this user wrote on this machine (`docs/decisions/0009-journal-is-input.md`). Its key
 * is outside of every repository: a process that can write a repository can write a journal, but cannot vouch for it.
 */
export interface JournalWitness {
  /** Opens what is known of the journal of a run; KEY_INSECURE if other users could have written it. */
  open(runId: string): Promise<WitnessedJournal>;
  /** Like `open`, but only reads. KEY_INSECURE. */
  look(runId: string): Promise<KnownJournal>;
  /**
   * A voucher for other files that a run leaves for later runs; `of` names their kind, and a MAC of one kind is
   * invalid for another. KEY_INSECURE.
   */
  voucher(of: string): Promise<Voucher>;
}

export interface KnownJournal extends Voucher {
  /** The furthest that the journal has reached; `undefined` if it was never written here. */
  readonly reached: JournalReach | undefined;
}

export interface WitnessedJournal extends KnownJournal, AsyncDisposable {
  /** Records the reach. A kill loses none of it; a power cut may, and the journal is then unknown. */
  reach(to: JournalReach): Promise<void>;
  forget(): Promise<void>;
}

const key = randomOctets(32);
const reaches = new Map<string, JournalReach>();

function knownJournal(runId: string): KnownJournal {
  const vouch = (line: string): string => journalMac(key, runId, line);
  return {
    vouch,
    vouched: (line, mac) => equalSecret(vouch(line), mac),
    get reached() {
      return reaches.get(runId);
    },
  };
}

/** A witness that ends with this process; another process runs every check again. For embedders without one. */
export const processWitness: JournalWitness = {
  async open(runId) {
    return Object.assign(knownJournal(runId), {
      async reach(to: JournalReach) {
        reaches.set(runId, to);
      },
      async forget() {
        reaches.delete(runId);
      },
      async [Symbol.asyncDispose]() {},
    });
  },
  async look(runId) {
    return knownJournal(runId);
  },
  async voucher(of) {
    return voucherUnder(key, of);
  },
};

/** A voucher with its own key: no run id contains a NUL, so no MAC of a journal is one of a voucher. */
export function voucherUnder(secret: Uint8Array, of: string): Voucher {
  const own = Buffer.from(journalMac(secret, '\0voucher', of), 'hex');
  const vouch = (line: string): string => journalMac(own, of, line);
  return { vouch, vouched: (line, mac) => equalSecret(vouch(line), mac) };
}

/** HMAC-SHA-256 over the id of the run and a line of its journal. */
export function journalMac(secret: Uint8Array, runId: string, line: string): string {
  return createHmac('sha256', secret).update(`${runId}\0${line}`).digest('hex');
}

const ending = /^(.*),"mac":"([0-9a-f]{64})"\}$/s;

/** The line of a record, with the MAC of all before it. */
export function toVouchedLine(record: object, witness: Voucher | undefined): string {
  const line = JSON.stringify(record);
  return witness === undefined ? line : `${line.slice(0, -1)},"mac":"${witness.vouch(line)}"}`;
}

export function isVouchedLine(line: string, witness: Voucher): boolean {
  const [, said, mac] = ending.exec(line) ?? [];
  return said !== undefined && mac !== undefined && witness.vouched(`${said}}`, mac);
}

interface FormattedJournal {
  readonly bytes: Buffer;
  readonly reach: JournalReach;
}

/** Records as the bytes of a new journal: numbered and chained again, times kept, with MACs if there is a witness. */
export function formatJournal(
  records: readonly Pick<JournalRecord, 'at' | 'type' | 'data'>[],
  witness?: WitnessedJournal,
): FormattedJournal {
  let prev = firstPrev;
  const lines = records.map(({ at, type, data }, index) => {
    const line = toVouchedLine({ seq: index + 1, at, type, data, prev }, witness);
    prev = sha256Hex(line);
    return `${line}\n`;
  });
  return { bytes: Buffer.from(lines.join('')), reach: { records: records.length, digest: prev } };
}

/**
 * True if the witness's user wrote the whole journal: the last line has a valid MAC, and with the chain all lines
 * before it, and the journal contains everything that was ever recorded of it. The chain alone would not reveal a
 * tail that was cut off, or an older journal. A journal that replaces exactly the recorded one is accepted: its
 * process was killed before it recorded the new one.
 */
export function isAuthentic(
  { records, lastDigest, lastLine }: ParsedJournal,
  witness: KnownJournal,
): boolean {
  const { reached } = witness;
  if (records.length === 0) return reached === undefined || reached.records === 0;
  if (reached === undefined) return false;
  // A shorter journal does not end with the recorded line.
  const found = records[reached.records]?.prev ?? lastDigest;
  const isKnown = found === reached.digest || replaces(records, reached);
  return isKnown && isVouchedLine(lastLine, witness);
}

/** Type of the record that names the replaced journal. */
const replacedType = 'journal-replaced';

type Written = Pick<JournalRecord, 'at' | 'type' | 'data'>;

/**
 * The record for a journal of these records; none if the witness knows no earlier one. It is valid on this machine
 * only.
 */
export function replacedRecord(
  records: readonly Written[],
  { reached }: Pick<KnownJournal, 'reached'>,
): readonly Written[] {
  const at = records.at(-1)?.at;
  if (reached === undefined || at === undefined) return [];
  return [{ at, type: replacedType, data: { step: 'local/journal-replaced', ...reached } }];
}

function replaces(records: readonly JournalRecord[], reached: JournalReach): boolean {
  return records.some(({ type, data }) => {
    if (type !== replacedType) return false;
    const said = (data ?? {}) as { readonly records?: unknown; readonly digest?: unknown };
    return said.records === reached.records && said.digest === reached.digest;
  });
}
