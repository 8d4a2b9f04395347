import { sha256Hex } from '../../core/base/digest.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import { subjectsOf } from './build-provenance.ts';
import { type ResourceDescriptor, type Statement, statementType } from './statement.ts';

/** Our own predicate (`docs/schemas/evidence-manifest.v1.json`). */
export const manifestType = 'urn:writ:predicate:evidence-manifest:v1';

/** Every file of a run's tree but the manifest itself, by path, in code point order. */
export interface EvidenceManifest {
  readonly runId: string;
  readonly files: readonly ResourceDescriptor[];
}

type ManifestStatement = Statement<typeof manifestType, EvidenceManifest>;

/** The manifest of what is recorded; signed last. */
export function buildManifest(
  request: AttestRequest,
  recorded: ReadonlyMap<string, Uint8Array>,
): ManifestStatement {
  return {
    _type: statementType,
    subject: subjectsOf(request),
    predicateType: manifestType,
    predicate: {
      runId: request.runId,
      files: [...recorded]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, bytes]) => ({ name, digest: { sha256: sha256Hex(bytes) } })),
    },
  };
}
