import { WritError } from '../../core/base/errors.ts';

/** Longest entry that a bundle can hold: its length is a 16-bit number (C2SP tlog-tiles). */
const maxEntryBytes = 65_535;

/** Largest file of a ledger: a bundle of 256 of them. */
export const maxBundleBytes = 256 * (2 + maxEntryBytes);

/** `length ‖ entry`, to be appended to a bundle. 1 to 65,535 octets, else LOG_FAILED. */
export function formatEntry(entry: Uint8Array): Buffer {
  if (entry.length === 0 || entry.length > maxEntryBytes) {
    throw new WritError('LOG_FAILED', {
      message: `a log entry must have 1 to ${maxEntryBytes} octets, found ${entry.length}`,
      detail: { octets: entry.length },
    });
  }
  const length = Buffer.alloc(2);
  length.writeUInt16BE(entry.length);
  return Buffer.concat([length, entry]);
}

/** Takes a bundle apart; `undefined` where a length does not fit. */
export function parseEntries(bundle: Buffer): readonly Buffer[] | undefined {
  const entries: Buffer[] = [];
  let at = 0;
  while (at < bundle.length) {
    if (at + 2 > bundle.length) return undefined;
    const end = at + 2 + bundle.readUInt16BE(at);
    if (end > bundle.length) return undefined;
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}
