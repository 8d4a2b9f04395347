/** Parameters of a control sequence, and what may stand between them and its end (ECMA-48, 5.4). */
export function isParameter(octet: number): boolean {
  return octet >= 0x20 && octet < 0x40;
}

/** The last octet of a control sequence. */
export function isFinal(octet: number): boolean {
  return octet >= 0x40 && octet < 0x7f;
}

export function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet < 0x3a;
}
