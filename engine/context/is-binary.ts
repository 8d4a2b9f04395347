const inspectedBytes = 8000;

/** As git tells: a NUL byte near the beginning. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, inspectedBytes).includes(0);
}
