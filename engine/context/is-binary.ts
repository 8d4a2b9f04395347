const inspectedBytes = 8000;

/** Uses the same rule as git: a NUL byte near the beginning marks a binary file. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, inspectedBytes).includes(0);
}
