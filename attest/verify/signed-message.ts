import { isWritError } from '../../core/base/errors.ts';
import type { Content } from '../bundle/any-bundle.ts';
import {
  type ArtifactHash,
  artifactHashes,
  digestsOf,
  distinctArtifacts,
  type GivenArtifact,
} from './given-artifact.ts';
import type { Signed } from './judge-signature.ts';
import { refuted, unavailable } from './report.ts';

const hashes: Readonly<Record<string, ArtifactHash>> = {
  SHA2_256: 'sha256',
  SHA2_384: 'sha384',
  SHA2_512: 'sha512',
};

/**
 * What a message signature is over, once the one artifact given has the digest that the bundle names: its bytes where
 * they are at hand and not beyond measure, else its digests.
 */
export async function readSignedMessage(
  { algorithm, digest }: Content & { readonly kind: 'message' },
  artifacts: readonly GivenArtifact[],
): Promise<Signed> {
  const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
  const found = `${algorithm}:${digest.toString('hex')}`;
  if (hash === undefined) throw unavailable('unsupported', { expected: Object.keys(hashes), found });
  const [artifact, ...more] = distinctArtifacts(artifacts);
  if (artifact === undefined)
    throw unavailable('missing', { expected: 'the artifact (`--artifact FILE`)', found });
  const expected = artifacts.flatMap(digestsOf);
  if (more.length > 0) throw refuted('wrong-subject', { expected, found });
  const given = artifact[hash];
  if (given === undefined)
    throw unavailable('missing', { expected: `its digest by ${hash}, or the file itself`, found });
  if (given !== digest.toString('hex')) throw refuted('wrong-subject', { expected, found });
  try {
    if (artifact.read) return await artifact.read();
  } catch (fault) {
    if (!isWritError(fault, 'INPUT_TOO_LARGE')) throw fault;
  }
  return new Map(
    artifactHashes.flatMap((one) => {
      const hex = artifact[one];
      return hex === undefined ? [] : [[one, Buffer.from(hex, 'hex')] as const];
    }),
  );
}
