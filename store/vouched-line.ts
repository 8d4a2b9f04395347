import type { Voucher } from './journal-witness.ts';

const ending = /^(.*),"mac":"([0-9a-f]{64})"\}$/s;

/** The line of a record, with the witness's word over all before it. */
export function toVouchedLine(record: object, witness: Voucher | undefined): string {
  const line = JSON.stringify(record);
  return witness === undefined ? line : `${line.slice(0, -1)},"mac":"${witness.vouch(line)}"}`;
}

/** Whether the witness vouched for exactly this line. */
export function isVouchedLine(line: string, witness: Voucher): boolean {
  const [, said, mac] = ending.exec(line) ?? [];
  return said !== undefined && mac !== undefined && witness.vouched(`${said}}`, mac);
}
