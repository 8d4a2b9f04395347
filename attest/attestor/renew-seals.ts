import { createPublicKey } from 'node:crypto';
import { sha256Hex } from '../../core/base/digest.ts';
import type { SealedFile, SealingParties } from '../../core/contract/attestor.ts';
import { sealPaths } from '../../engine/store/record/seal-paths.ts';
import { formatBundle, parseBundle, toDsseEnvelope } from '../bundle/bundle.ts';
import { logEnvelope } from '../bundle/seal-statement.ts';
import { type Envelope, inTotoPayloadType, signEnvelope, verifyEnvelope } from '../encoding/dsse.ts';
import { expectObject, parseJsonObject } from '../encoding/expect-json.ts';
import { readManifest } from '../verify/predicates/read-manifest.ts';
import { refuted } from '../verify/report.ts';

const maxManifestBytes = 16 * 1024 * 1024;

/**
 * Logs the provenance of a sealed run once more, as it was signed, and signs the summary and the manifest again with
 * the new digests. `files` is the whole run; the manifest must fit it, so that nothing is sealed that was not sealed
 * before. VERIFY_REFUTED, ATTESTATION_MALFORMED, LOG_FAILED.
 */
export async function renewSeals(
  files: ReadonlyMap<string, Uint8Array>,
  parties: SealingParties,
): Promise<readonly SealedFile[]> {
  const key = createPublicKey(parties.signer.publicKeyPem);
  const open = (path: string): Envelope => {
    const { envelope } = parseBundle(fileAt(files, path));
    verifyEnvelope(envelope, key);
    return envelope;
  };
  const manifest = open(sealPaths.manifest).payload;
  requireListed(files, manifest);
  const summary = open(sealPaths.summary).payload;
  const provenance = toDsseEnvelope(open(sealPaths.bundle));
  const { bundle, proof } = await logEnvelope(Buffer.from(JSON.stringify(provenance)), parties, 0);
  const renewed = new Map([[sealPaths.bundle as string, bundle]]);
  if (proof !== undefined) renewed.set(sealPaths.proof, proof);
  const signAgain = async (payload: Buffer): Promise<Uint8Array> => {
    let text = payload.toString('utf8');
    // A SHA-256 stands for one file: wherever the old one is named, the new one is meant.
    for (const [path, bytes] of renewed)
      text = text.replaceAll(sha256Hex(fileAt(files, path)), sha256Hex(bytes));
    const envelope = await signEnvelope(inTotoPayloadType, Buffer.from(text), parties.signer);
    return Buffer.from(formatBundle({ envelope, proof: undefined }));
  };
  renewed.set(sealPaths.summary, await signAgain(summary));
  renewed.set(sealPaths.manifest, await signAgain(manifest));
  return [...renewed];
}

/** Requires that a manifest lists every file of the run but itself, with its digest, and no other. */
function requireListed(files: ReadonlyMap<string, Uint8Array>, manifest: Buffer): void {
  const { predicate } = parseJsonObject(manifest, maxManifestBytes);
  const listed = readManifest(expectObject(predicate, '/predicate', ['runId', 'files'])).files;
  const paths = [...files.keys()].filter((path) => path !== sealPaths.manifest);
  const wrong = paths.find((path) => listed.get(path) !== sha256Hex(fileAt(files, path)));
  if (wrong === undefined && listed.size === paths.length) return;
  throw refuted('mismatch', { found: wrong ?? 'files that the manifest lists are missing' });
}

function fileAt(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  const bytes = files.get(path);
  if (bytes !== undefined) return bytes;
  throw refuted('missing', { path });
}
