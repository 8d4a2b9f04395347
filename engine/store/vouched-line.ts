import type { WitnessedJournal } from './journal-witness.ts';

/** A record without the word of its witness. */
interface Unvouched {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly data: unknown;
  readonly prev: string;
}

const ending = /^(.*),"mac":"([0-9a-f]{64})"\}$/s;

/** The line of a record, with the witness's word over all before it. */
export function toVouchedLine(record: Unvouched, witness: WitnessedJournal | undefined): string {
  const line = JSON.stringify(record);
  return witness === undefined ? line : `${line.slice(0, -1)},"mac":"${witness.vouch(line)}"}`;
}

/** Whether the witness vouched for exactly this line. */
export function isVouchedLine(line: string, witness: WitnessedJournal): boolean {
  const [, said, mac] = ending.exec(line) ?? [];
  return said !== undefined && mac !== undefined && witness.vouched(`${said}}`, mac);
}
