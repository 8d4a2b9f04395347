import { messageOf, WritError } from '../../core/base/errors.ts';
import type { OutsideLog, OutsideProof } from '../../core/contract/outside-log.ts';
import type { LogProof, TransparencyLog } from '../../core/contract/transparency-log.ts';
import { type SignedCheckpoint, verifyCheckpoint } from '../log/checkpoint.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { compareSeen, rememberSeen } from '../log/compare-seen.ts';
import { parseVkey } from '../log/ledger-key.ts';
import { leafHash } from '../log/merkle/hash.ts';
import { rootFromInclusion } from '../log/merkle/verify-inclusion.ts';

/** Which log of others is meant, and what this user has seen of it. */
export interface PinnedLog {
  readonly mode: string;
  readonly name: string;
  readonly vkey: string;
  readonly memory: CheckpointMemory;
}

/**
 * A log of others that a plugin speaks to, known by the key that the policy commit pins. Nothing that it says counts
 * before it is shown: a checkpoint signed by that key, a path from the very bytes that were handed in to its root, a
 * size that does not go back, and no other tree than this user has seen of it. Else LOG_FAILED with the plugin's `log`
 * and what was found.
 */
export function pinnedLog({ mode, name, vkey, memory }: PinnedLog, outside: OutsideLog): TransparencyLog {
  const key = parseVkey(vkey);
  let seen = 0;
  const failed = (cause: unknown): WritError =>
    new WritError('LOG_FAILED', {
      message: `the log \`${name}\` of a plugin: ${messageOf(cause)}`,
      detail: { mode, log: name },
      cause,
    });
  const grownTo = async (size: number): Promise<void> => {
    const remembered = await memory.latest({ origin: key.name, keyId: key.keyId });
    seen = Math.max(seen, remembered?.size ?? 0);
    if (size < seen) throw new RangeError(`it had ${seen} entries, and now has ${size}`);
    seen = size;
  };
  const verify = (
    body: Uint8Array,
    proof: OutsideProof,
  ): { readonly head: SignedCheckpoint; readonly proof: LogProof } => {
    const { logIndex, treeSize, rootHash, hashes, checkpoint } = proof;
    const head = verifyCheckpoint(checkpoint, [key]);
    if (head.size !== treeSize || !head.root.equals(rootHash))
      throw new TypeError('its checkpoint is of another size or root than its proof');
    if (rootFromInclusion(logIndex, treeSize, leafHash(body), hashes)?.equals(rootHash) !== true)
      throw new TypeError('its path does not lead from the entry to the root');
    return {
      head,
      proof: { origin: head.origin, logIndex, treeSize, rootHash, hashes, checkpoint, body },
    };
  };
  return {
    mode,
    vkey: async () => vkey,
    async size() {
      try {
        const size = await outside.size();
        await grownTo(size);
        return size;
      } catch (cause) {
        throw failed(cause);
      }
    },
    async append(body, { behind = 0 } = {}) {
      const least = Math.max(behind, 0);
      try {
        const { head, proof } = verify(body, await outside.append(body, behind));
        // Answers to entries that were handed in at once may overtake each other; none may be older than what was
        // there before.
        if (proof.treeSize < least)
          throw new RangeError(`it had ${least} entries, and now has ${proof.treeSize}`);
        // As verifying does: what nothing shows to continue what was seen is not remembered, and not refused.
        if ((await compareSeen(head, memory)) === 'first') await rememberSeen([head], memory);
        return proof;
      } catch (cause) {
        throw failed(cause);
      }
    },
  };
}
