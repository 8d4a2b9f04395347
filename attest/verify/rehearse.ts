import { createPublicKey } from 'node:crypto';
import { messageOf } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { SealingParties } from '../../core/interfaces/sealing.ts';
import { signStatement } from '../bundle/seal-statement.ts';
import { parseEnvelope, verifyEnvelope } from '../encoding/dsse.ts';
import type { ProvenanceStatement } from '../statement/slsa-provenance.ts';
import { readProvenance } from './provenance-claims.ts';

/**
 * Signs a provenance, reads it back as a verifier does, and looks at the log's head; says what went wrong. Nothing is
 * kept.
 */
export async function rehearse(
  statement: ProvenanceStatement,
  parties: SealingParties,
): Promise<readonly string[]> {
  const { signer, log } = parties;
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'the provenance does not verify',
      async () => {
        const { value } = parseStrictJson(await signStatement(statement, parties), {
          code: 'ATTESTATION_MALFORMED',
        });
        readProvenance(verifyEnvelope(parseEnvelope(value, ''), createPublicKey(signer.publicKeyPem)));
      },
    ],
    ['the log cannot be used', async () => log?.size()],
  ];
  const problems: string[] = [];
  for (const [what, attempt] of attempts) {
    try {
      await attempt();
    } catch (fault) {
      problems.push(`${what}: ${messageOf(fault)}`);
    }
  }
  return problems;
}
