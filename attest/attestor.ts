import type { Attestor, AttestRequest, SealingParties } from '../core/contract/attestor.ts';
import { sealStatement } from './seal-statement.ts';
import { buildProvenance } from './statement/build-provenance.ts';
import { buildRevocation } from './statement/revocation.ts';
import type { ProvenanceStatement } from './statement/slsa-provenance.ts';

/** SLSA provenance v1 in a DSSE envelope, logged, as a sigstore bundle v0.3. The envelope's signature differs each time. */
export function createSlsaAttestor(): Attestor {
  return {
    async attest(request, parties) {
      return sealStatement(await toStatement(request, parties), parties);
    },
    async revoke(request, parties) {
      const { subject } = await toStatement(request, parties);
      return sealStatement(buildRevocation(subject, request.runId), parties);
    },
  };
}

async function toStatement(request: AttestRequest, { log }: SealingParties): Promise<ProvenanceStatement> {
  const { spec, ...rest } = request;
  return buildProvenance({
    ...rest,
    specId: spec.metadata.id,
    ...spec.provenance.bindings,
    ledger: await log?.vkey(),
  });
}
