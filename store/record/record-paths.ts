/* Names files of a run's record and reads them strictly. */
import { canonicalize } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson, type StrictJsonOptions } from '../../core/base/strict-json.ts';
import type { Shape } from '../shape.ts';

/** The seals of a run in its tree (`docs/decisions/0006-evidence-set.md`). */
export const sealPaths = {
  decision: 'statements/decision.sigstore.json',
  equivalence: 'statements/approval-equivalence.sigstore.json',
  bundle: 'provenance.sigstore.json',
  proof: 'transparency-proof.tlog-proof',
  /** The same two, if the log entry was made again (`docs/reference/ledger.md`, Machines without state). */
  renewedBundle: 'renewed/provenance.sigstore.json',
  renewedProof: 'renewed/transparency-proof.tlog-proof',
  summary: 'statements/vsa.sigstore.json',
  manifest: 'evidence-manifest.sigstore.json',
  revocation: 'revocation.sigstore.json',
  rollback: 'rollback.json',
} as const;

/** Canonical JSON and a line end, as every plain file of a record. */
export function toJson(value: unknown): Buffer {
  return Buffer.from(`${canonicalize(value)}\n`);
}

/** Folder of the decision to wait. */
export const waitingFolder = 'waiting';

/** Strict JSON of a stored file; OBJECT_CORRUPT names the file. */
export function parseNamedJson(
  path: string,
  bytes: Uint8Array,
  limits: Pick<StrictJsonOptions, 'maxBytes' | 'maxDepth'> = {},
): unknown {
  try {
    return parseStrictJson(bytes, { ...limits, code: 'OBJECT_CORRUPT' }).value;
  } catch (cause) {
    if (!isWritError(cause, 'OBJECT_CORRUPT')) throw cause;
    const detail = { ...cause.detail, path };
    throw new WritError('OBJECT_CORRUPT', { message: `\`${path}\`: ${cause.message}`, detail, cause });
  }
}

/**
 * A stored file of that shape; OBJECT_CORRUPT names the file and the first problem. `problemsOf` finds what a shape
 * cannot express.
 */
export function parseShaped<T>(
  path: string,
  shape: Shape<T>,
  bytes: Uint8Array,
  limits: Pick<StrictJsonOptions, 'maxBytes' | 'maxDepth'>,
  problemsOf: (record: T) => readonly string[] = () => [],
): T {
  const value = parseNamedJson(path, bytes, limits);
  const problems: string[] = [];
  shape.check(value, '', problems);
  if (problems.length === 0) problems.push(...problemsOf(value as T));
  if (problems.length === 0) return value as T;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${path}\` is not valid: ${problems[0]}`,
    detail: { path, problems },
  });
}
