import { sha256Hex } from '../../core/base/digest.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import type { ArtifactRecord } from '../../core/contract/stage.ts';

/**
 * Content of an artifact that has the digest and the size of its record, or in words what is there instead (contract,
 * Errors 2).
 */
export function artifactContent(
  { artifactBytes }: Pick<RuleInput, 'artifactBytes'>,
  { sha256, sizeBytes }: ArtifactRecord,
): { readonly bytes: Uint8Array } | { readonly found: string } {
  const bytes = artifactBytes && Object.hasOwn(artifactBytes, sha256) ? artifactBytes[sha256] : undefined;
  if (!bytes) return { found: 'no content' };
  const actual = sha256Hex(bytes);
  if (actual !== sha256) return { found: `content with SHA-256 ${actual}` };
  return bytes.length === sizeBytes ? { bytes } : { found: `${bytes.length} bytes` };
}
