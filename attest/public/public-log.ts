import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { askHttp, type HttpAsker } from '../../core/base/net.ts';
import type { Signer } from '../../core/contract/signer.ts';
import type { LogProof, TransparencyLog } from '../../core/contract/transparency-log.ts';
import type { BundledProof } from '../bundle/bundled-proof.ts';
import { requireSameClaim } from '../log/entry-claim.ts';
import { parseLogEntry } from '../log/log-entry.ts';
import { parsePromisedEntry } from '../log/promised-entry.ts';
import { logFailed } from './ask-log.ts';
import type { PublicLogKey } from './public-log-key.ts';
import { addToRekorV1 } from './rekor-v1.ts';
import { addToRekorV2 } from './rekor-v2.ts';
import { type PublicInclusion, verifyPublicProof } from './verify-public-proof.ts';

export interface PublicLogOptions {
  readonly url: string;
  readonly api: 'v1' | 'v2';
  /** As it stands in the tree of the policy commit. */
  readonly trustedRoot: Uint8Array;
  readonly logs: readonly PublicLogKey[];
  /** Whose public key or certificate the log is handed. */
  readonly signer: Pick<Signer, 'publicKeyPem' | 'certificate'>;
  readonly clock: Clock;
  /** Asks a log of version 2; one of version 1 is asked by the sigstore client. Default: `askHttp`. */
  readonly fetch?: HttpAsker;
  /**
   * For one question; default 60,000. A Rekor v2 log answers once a checkpoint covers the entry, which takes seconds.
   */
  readonly withinMs?: number;
  /** Default 3. */
  readonly attempts?: number;
  /** Longest wait before asking again; default 30,000. */
  readonly maxWaitMs?: number;
}

/**
 * A Rekor log of others, v1 or v2. An answer counts once its checkpoint, path, time and entry are shown to be of a log
 * that the trusted root names, and about the very digest, signature and key that were handed in; everything else is
 * LOG_FAILED that says what was found.
 */
export function createPublicLog(options: PublicLogOptions): TransparencyLog {
  const { url, api, clock, fetch = askHttp, withinMs = 60_000, attempts = 3, maxWaitMs = 30_000 } = options;

  async function add(body: Uint8Array): Promise<BundledProof> {
    if (api === 'v2') return addToRekorV2(url, body, { clock, fetch, attempts, maxWaitMs }, withinMs);
    const { certificate, publicKeyPem } = options.signer;
    const verifier = certificate === undefined ? publicKeyPem : new X509Certificate(certificate()).toString();
    return addToRekorV1(url, body, verifier, { attempts, withinMs });
  }

  function verify(proof: BundledProof, body: Uint8Array): PublicInclusion {
    const { certificate } = options.signer;
    try {
      const inclusion = verifyPublicProof(proof, options.logs, clock.now());
      if ((proof.promise === undefined) !== (api === 'v2'))
        throw new WritError('VERIFY_REFUTED', { message: `the entry is not one of Rekor ${api}` });
      const expected = parseLogEntry(body);
      requireSameClaim(proof.promise ? parsePromisedEntry(proof.body) : parseLogEntry(proof.body), {
        ...expected,
        ...(certificate === undefined ? {} : { certificate: Buffer.from(certificate()) }),
      });
      if (inclusion.log.validFor.endMs < clock.now())
        throw new WritError('VERIFY_REFUTED', { message: 'the key of the log is not valid any more' });
      return inclusion;
    } catch (fault) {
      throw logFailed(messageOf(fault), url, fault);
    }
  }

  return {
    mode: 'public-log',
    trustedRoot: options.trustedRoot,
    vkey: async () => undefined,
    size: async () => 0,
    append: async (body): Promise<LogProof> => {
      const proof = await add(body);
      const { checkpoint } = verify(proof, body);
      return { ...proof, origin: checkpoint.origin };
    },
  };
}
