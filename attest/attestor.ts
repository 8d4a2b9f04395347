import type { Attestor, AttestRequest, SealingParties } from '../core/contract/attestor.ts';
import { logEnvelope, signStatement } from './seal-statement.ts';
import { buildProvenance } from './statement/build-provenance.ts';
import { buildRevocation } from './statement/revocation.ts';
import type { ProvenanceStatement } from './statement/slsa-provenance.ts';

/** SLSA provenance v1 in a DSSE envelope, logged, as a sigstore bundle v0.3. The envelope's signature differs each time. */
export function createSlsaAttestor(): Attestor {
  return {
    sign: async (request, parties) => signStatement(await toStatement(request, parties), parties),
    async signRevocation(request, parties) {
      const { subject } = await toStatement(request, parties);
      return signStatement(buildRevocation(subject, request.runId), parties);
    },
    log: (envelope, parties, behind) => logEnvelope(envelope, parties, behind),
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
