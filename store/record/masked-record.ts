import { WritError } from '../../core/base/errors.ts';
import { fields, oneOf, sha256Text, type TypeOf, wholeNumber } from '../shape.ts';
import { parseNamedJson } from './parse-named-json.ts';

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

/**
 * That `patchset.diff` is kept without the secrets it was refused for: the digest of what was judged, and of what is
 * kept.
 */
export type MaskedRecord = TypeOf<typeof shape>;

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
