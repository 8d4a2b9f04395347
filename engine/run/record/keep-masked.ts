import { canonicalize } from '../../../core/base/canonical.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { MaskedRecord } from '../../store/record/masked-record.ts';
import type { Attempt, RunMeans } from '../state/attempt.ts';
import type { JudgedRun } from './judged-run.ts';
import { maskPatch, refusedFiles, suspectFiles } from './mask-patch.ts';
import { maskValues } from './mask-values.ts';
import { secretValues } from './secret-values.ts';

/** What is kept in place of a patch. */
export interface KeptPatch {
  readonly bytes: Uint8Array;
  /** `masked.json`. */
  readonly record: Uint8Array;
}

/** What may be kept of the patch of a run that is not sealed; `undefined` where all of it may. */
export function keepMasked(
  { patch, steps }: Pick<Attempt, 'patch'> & Pick<RunMeans, 'steps'>,
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
