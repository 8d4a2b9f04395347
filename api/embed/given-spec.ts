import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { IntentSpec } from '../../core/contract/intentspec.gen.ts';
import { maxSpecBytes, readSpecBytes } from '../intent/read-spec-bytes.ts';

/** A contract as a program has it: the document as an object, its bytes, or the path of its file. */
export type GivenSpec = IntentSpec | Uint8Array | string;

/**
 * The bytes of a contract, at most 4 MiB: INTENTSPEC_MALFORMED beyond; INPUT_UNREADABLE for a file that cannot be read.
 */
export async function specBytes(given: GivenSpec, signal: AbortSignal): Promise<Uint8Array> {
  if (typeof given === 'string') {
    const path = resolve(given);
    return readSpecBytes({ cwd: path, stdin: Readable.from([]), signal }, path);
  }
  const bytes = given instanceof Uint8Array ? given : Buffer.from(JSON.stringify(given));
  if (bytes.length <= maxSpecBytes) return bytes;
  throw new WritError('INTENTSPEC_MALFORMED', {
    message: `the contract is larger than ${maxSpecBytes} bytes`,
    detail: { expected: `at most ${maxSpecBytes} bytes`, found: bytes.length },
  });
}

/** Canonical digest of a contract, SHA-256 in hex. INTENTSPEC_MALFORMED for what is no JSON. */
export async function specDigest(given: GivenSpec, signal: AbortSignal): Promise<string> {
  return canonicalDigest(parseStrictJson(await specBytes(given, signal)).value);
}
