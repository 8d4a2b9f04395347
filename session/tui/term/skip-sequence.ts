import { isFinal, isParameter } from './sequence-octets.ts';

/** How many octets are skipped, and whether the sequence has ended with them. */
export interface Skipped {
  readonly took: number;
  readonly ended: boolean;
}

const bell = 0x07;
const esc = 0x1b;
const backslash = 0x5c;

/** Of a text for the terminal: up to its end, or to a key that cannot be a part of it. */
export function skipString(bytes: Uint8Array): Skipped {
  const at = bytes.findIndex((octet) => octet < 0x20);
  if (at === -1) return { took: bytes.length, ended: false };
  if (bytes[at] === bell) return { took: at + 1, ended: true };
  if (bytes[at] !== esc) return { took: at, ended: true };
  if (at + 1 === bytes.length) return { took: at, ended: false };
  return { took: bytes[at + 1] === backslash ? at + 2 : at, ended: true };
}

/** Of a sequence which is longer than any that is known. */
export function skipOverlong(bytes: Uint8Array): Skipped {
  const at = bytes.findIndex((octet) => !isParameter(octet));
  if (at === -1) return { took: bytes.length, ended: false };
  return { took: isFinal(bytes[at] ?? 0) ? at + 1 : at, ended: true };
}
