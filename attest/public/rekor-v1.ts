import { messageOf } from '../../core/base/errors.ts';
import { type BundledProof, parseTlogEntry } from '../bundle/bundled-proof.ts';
import { parseLogEntry } from '../log/log-entry.ts';
import { logFailed } from './ask-log.ts';

/** SHA2_256 of sigstore's HashAlgorithm. */
const sha256 = 1;

/**
 * Adds an entry to a Rekor v1 log through the sigstore client, which also fetches one that is there already. Only
 * digest, signature and verifier are handed over, never what was signed. `verifier` is PEM: a public key or a
 * certificate. In our form; nothing is verified yet. LOG_FAILED.
 */
export async function addToRekorV1(
  url: string,
  body: Uint8Array,
  verifier: string,
  { attempts, withinMs }: { readonly attempts: number; readonly withinMs: number },
): Promise<BundledProof> {
  const { RekorWitness } = await import('@sigstore/sign');
  const { digest, signature } = parseLogEntry(body);
  const witness = new RekorWitness({
    rekorBaseURL: url,
    timeout: withinMs,
    retry: { retries: attempts - 1, minTimeout: 250, maxTimeout: 10_000 },
  });
  try {
    const { tlogEntries } = await witness.testify(
      {
        $case: 'messageSignature',
        messageSignature: { messageDigest: { algorithm: sha256, digest }, signature },
      },
      verifier,
    );
    const [entry] = tlogEntries ?? [];
    // Its fields are whatever the log sent: they become the JSON that a bundle holds and are read as strictly as one.
    const json: unknown = JSON.parse(JSON.stringify(entry, toBase64));
    return parseTlogEntry(json, '');
  } catch (cause) {
    throw logFailed(describe(cause), url, cause);
  }
}

/** Octets as a bundle writes them. A Buffer has become plain data by the time a replacer sees it. */
function toBase64(_key: string, value: unknown): unknown {
  const isOctets =
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value;
  return isOctets ? Buffer.from(value.data as number[]).toString('base64') : value;
}

/** The client wraps what it found once or twice. */
function describe(fault: unknown): string {
  const inner = fault instanceof Error && fault.cause instanceof Error ? `: ${fault.cause.message}` : '';
  return `${messageOf(fault)}${inner}`.replace(/[^ -~]+/g, ' ').slice(0, 400);
}
