import { crc32 } from 'node:zlib';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const payloadLength = 30;
const checksumLength = 6;
const checked = /^(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})$/;

/**
 * Whether the last six characters of a GitHub or npm token are the CRC-32 of the thirty before them, in base 62.
 * `undefined` for a token whose format has no checksum.
 */
export function tokenChecksum(token: string): 'valid' | 'mismatch' | undefined {
  const [, payload, checksum] = checked.exec(token) ?? [];
  if (payload === undefined || checksum === undefined) return undefined;
  return checksumOf(payload) === checksum ? 'valid' : 'mismatch';
}

/** Six base-62 digits over thirty characters. */
export function checksumOf(payload: string): string {
  if (payload.length !== payloadLength)
    throw new RangeError(`expected ${payloadLength} characters, found ${payload.length}`);
  let left = crc32(payload);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = digits.charAt(left % 62) + text;
    left = Math.floor(left / 62);
  }
  return text;
}
