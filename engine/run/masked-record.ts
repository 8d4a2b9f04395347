import { canonicalize } from '../../core/base/canonical.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { fields, oneOf, sha256Text, type TypeOf, wholeNumber } from '../store/shape.ts';
import type { Attempt } from './attempt.ts';
import type { JudgedRun } from './judged-run.ts';
import { maskPatch, refusedFiles, suspectFiles } from './mask-patch.ts';
import { maskValues } from './mask-values.ts';
import { parseNamedJson } from './parse-named-json.ts';
import { secretValues } from './secret-values.ts';

/** File of a run's record that says what of its content is kept masked. */
export const maskedPath = 'masked.json';

const maxBytes = 64 * 1024;
const shape = fields({
  schema: oneOf('urn:writ:masked:v1'),
  path: oneOf('patchset.diff'),
  rule: oneOf('secrets'),
  originalSha256: sha256Text,
  storedSha256: sha256Text,
  files: wholeNumber,
  lines: wholeNumber,
});

/** That `patchset.diff` is kept without the secrets it was refused for: the digest of what was judged, and of what is kept. */
export type MaskedRecord = TypeOf<typeof shape>;

/** What is kept in place of a patch. */
export interface KeptPatch {
  readonly bytes: Uint8Array;
  /** `masked.json`. */
  readonly record: Uint8Array;
}

/** What may be kept of the patch of a run that is not sealed; `undefined` where all of it may. */
export function keepMasked(
  { patch, steps }: Pick<Attempt, 'patch' | 'steps'>,
  { findings }: Pick<JudgedRun, 'findings'>,
): KeptPatch | undefined {
  const wasJudged = ['patch-judged', 'part-judged'].some((name) => steps.ended(name) !== undefined);
  const named = wasJudged ? refusedFiles(patch, findings) : suspectFiles(patch);
  if (named.size === 0) return undefined;
  // In a binary file the same value is packed away where it cannot be looked for.
  const refused = new Set([...named, ...patch.files.filter(({ binary }) => binary)]);
  const kept = maskPatch(patch, refused);
  const { files, lines } = kept;
  const bytes = maskValues(kept.bytes, secretValues(patch, refused));
  const record: MaskedRecord = {
    schema: 'urn:writ:masked:v1',
    path: 'patchset.diff',
    rule: 'secrets',
    originalSha256: patch.digest,
    storedSha256: sha256Hex(bytes),
    files,
    lines,
  };
  return { bytes, record: Buffer.from(`${canonicalize(record)}\n`) };
}

/** Reads `masked.json` strictly; OBJECT_CORRUPT. */
export function parseMaskedRecord(bytes: Uint8Array): MaskedRecord {
  const value = parseNamedJson(maskedPath, bytes, { maxBytes, maxDepth: 4 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  if (problems.length === 0) return value as MaskedRecord;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${maskedPath}\` is not what it must be: ${problems[0]}`,
    detail: { path: maskedPath, problems },
  });
}
