import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { askHttp, type HttpAsker } from '../../core/base/net.ts';
import type { Signer } from '../../core/contract/signer.ts';
import type { LogProof, TransparencyLog } from '../../core/contract/transparency-log.ts';
import type { BundledProof } from '../bundle/bundled-proof.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { requireSameClaim } from '../log/entry-claim.ts';
import { holdToSeen, type ProveGrowth } from '../log/hold-to-seen.ts';
import { parseLogEntry } from '../log/log-entry.ts';
import { parsePromisedEntry } from '../log/promised-entry.ts';
import { logFailed } from './ask-log.ts';
import { proveByRekorV1, proveByTiles } from './prove-growth.ts';
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
  /** What this user has seen of it. */
  readonly memory: CheckpointMemory;
  /** Asks a log of version 2; entries of version 1 are added by the sigstore client. Default: `askHttp`. */
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
 * that the trusted root names, about the very digest, signature and key that were handed in, and of one history with
 * what this user has seen of the log; everything else is LOG_FAILED that says what was found, or LOG_FORKED.
 */
export function createPublicLog(options: PublicLogOptions): TransparencyLog {
  const { url, api, clock, fetch = askHttp, withinMs = 60_000, attempts = 3, maxWaitMs = 30_000 } = options;
  const patience = { clock, fetch, attempts, maxWaitMs };

  async function add(body: Uint8Array): Promise<BundledProof> {
    if (api === 'v2') return addToRekorV2(url, body, patience, withinMs);
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

  const growthOf = (origin: string | undefined): ProveGrowth =>
    api === 'v2' ? proveByTiles(url, patience, withinMs) : proveByRekorV1(url, origin, patience, withinMs);
  /** The tree that answered last: a log of version 1 has several. */
  let shown: string | undefined;

  return {
    mode: 'public-log',
    trustedRoot: options.trustedRoot,
    vkey: async () => undefined,
    size: async () => 0,
    append: async (body): Promise<LogProof> => {
      const proof = await add(body);
      const { checkpoint, log } = verify(proof, body);
      shown = checkpoint.origin;
      await holdToSeen({ ...checkpoint, keyId: log.logId }, options.memory, growthOf(shown));
      return { ...proof, origin: checkpoint.origin };
    },
    consistency: (from, to) => growthOf(shown)(from, to),
  };
}
