import type { ArtifactRequest } from '../../../core/contract/artifact-producer.ts';
import type { PrivacyPolicy } from '../../../core/contract/privacy-policy.ts';
import type { Hooks } from '../../../core/kernel/hooks.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';

/** The same request without what the contract keeps back: for a producer that others hear from. */
export async function withheld(
  request: ArtifactRequest,
  policy: PrivacyPolicy,
  { artifact }: Pick<Hooks, 'artifact'>,
): Promise<ArtifactRequest> {
  if (policy.remove.length === 0) return request;
  const { patch, spec, stages, readCandidate } = request;
  const redacted = async (name: string, bytes: Uint8Array): Promise<Uint8Array> => {
    const raw = { name, contentType: 'application/octet-stream', bytes, policy, redactions: 0, receipt: [] };
    return (await artifact.redact.call(raw)).bytes;
  };
  const diff = await redacted('patchset', patch.diff);
  const shared = new Uint8Array(new SharedArrayBuffer(diff.byteLength));
  shared.set(diff);
  return {
    ...request,
    spec: redactTexts(spec, policy),
    stages: redactTexts(stages, policy),
    patch: { ...patch, files: redactTexts(patch.files, policy), diff: shared },
    async readCandidate(path) {
      const bytes = await readCandidate(path);
      return bytes && redacted(path, bytes);
    },
  };
}
