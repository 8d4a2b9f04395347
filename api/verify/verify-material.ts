import { maxEvidenceFileBytes } from '../../attest/verify/evidence-file.ts';
import { nothingThere } from '../../attest/verify/report.ts';
import { WritError } from '../../core/base/errors.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import { toVerificationData } from './verification-data.ts';
import { verifyBytes } from './verify-bytes.ts';
import { readRequest, type VerifyRequest } from './verify-request.ts';

/**
 * Verifies evidence offline: a sigstore bundle, a DSSE envelope, JSON Lines of them, a tlog-proof, or the exported
 * evidence of a run. Defects of the material are reported in the result. Only an invalid request throws: USAGE,
 * ANCHOR_UNUSABLE.
 */
export async function verifyMaterial(bytes: Uint8Array, request: VerifyRequest): Promise<VerificationData> {
  const { belief, demands } = await readRequest(request);
  const target = 'material';
  if (bytes.length > maxEvidenceFileBytes) {
    const report = nothingThere(`it is larger than ${maxEvidenceFileBytes} octets`, 'unsupported');
    return toVerificationData([{ target, kind: 'attestation', report }]);
  }
  const nowhere = {
    open: noRepository,
    findCommit: async () => undefined,
    headCommit: async () => undefined,
  };
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return toVerificationData(await verifyBytes(belief, demands, nowhere, target, buffer));
}

async function noRepository(): Promise<never> {
  throw new WritError('USAGE', {
    message: '`policy` of a verification without a repository: expected a full commit id',
    detail: { command: 'verify', option: 'policy' },
  });
}
