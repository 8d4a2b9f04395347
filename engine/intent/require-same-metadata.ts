import { canonicalize } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { RunStore } from '../store/run-store.ts';
import type { AdmittedContract } from './admit-contract.ts';

/** Metadata are immutable after creation (document 1, Metadata): the same id with others is INTENTSPEC_INVALID. */
export async function requireSameMetadata(
  { objects, refs }: RunStore,
  contract: AdmittedContract,
): Promise<void> {
  const { metadata } = contract.document;
  const stored = await objects.read(refs.intent(metadata.id), 'spec.json');
  if (!stored) return;
  const { value } = parseStrictJson(stored, { code: 'OBJECT_CORRUPT' });
  const before = (value as { readonly metadata?: unknown }).metadata;
  if (canonicalize(before) === canonicalize(metadata)) return;
  const issue = {
    code: 'SEMANTIC_METADATA_IMMUTABLE',
    path: '/metadata',
    message: `intent \`${metadata.id}\` was run with other metadata; a change means a new id`,
    severity: 'error' as const,
  };
  throw new WritError('INTENTSPEC_INVALID', {
    message: issue.message,
    detail: { issues: [issue] },
    hints: ['give the changed intent a `metadata.id` of its own'],
  });
}
