import { toSpki } from '../encoding/public-key.ts';
import type { LedgerKey } from './ledger-key.ts';

/**
 * A sigstore `trusted_root.json` (protobuf JSON) that names these logs and nothing else, so that stock clients check
 * our proofs. A ledger key has no date of its own: it is valid from the epoch on.
 */
export function formatTrustedRoot(keys: readonly LedgerKey[]): string {
  const root = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: keys.map((key) => ({
      baseUrl: `https://${key.name}`,
      hashAlgorithm: 'SHA2_256',
      publicKey: {
        rawBytes: toSpki(key.key).toString('base64'),
        keyDetails: 'PKIX_ED25519',
        validFor: { start: '1970-01-01T00:00:00.000Z' },
      },
      logId: { keyId: key.keyId.toString('base64') },
    })),
  };
  return `${JSON.stringify(root, null, 2)}\n`;
}
