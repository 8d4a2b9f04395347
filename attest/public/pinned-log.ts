import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { OutsideLog, OutsideProof } from '../../core/contract/outside-log.ts';
import type { LogProof, TransparencyLog } from '../../core/contract/transparency-log.ts';
import { type SignedCheckpoint, verifyCheckpoint } from '../log/checkpoint.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { compareSeen, isForked, rememberSeen } from '../log/compare-seen.ts';
import { holdToSeen } from '../log/hold-to-seen.ts';
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
 * size that does not go back, and one history with what this user has seen of it; where the log proves nothing of how
 * it grew, no other tree of the first size that was seen. Else LOG_FAILED with the plugin's `log` and what was found,
 * LOG_FORKED, or STATE_CORRUPT about what was seen.
 */
export function pinnedLog({ mode, name, vkey, memory }: PinnedLog, outside: OutsideLog): TransparencyLog {
  const key = parseVkey(vkey);
  const prove = outside.consistency?.bind(outside);
  let seen = 0;
  const failed = (cause: unknown): WritError => {
    const detail = { ...(isWritError(cause) && cause.detail), mode, log: name };
    const message = `the log \`${name}\` of a plugin: ${messageOf(cause)}`;
    if (isForked(cause)) return new WritError('LOG_FORKED', { message, detail, cause });
    // What this user keeps says nothing about the log.
    const code = isWritError(cause, 'STATE_CORRUPT') ? 'STATE_CORRUPT' : 'LOG_FAILED';
    return new WritError(code, { message, detail, ...(isWritError(cause) && { hints: cause.hints }), cause });
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
        // Looked up before it is asked: what somebody else appends meanwhile is remembered, and no rollback.
        const remembered = await memory.latest({ origin: key.name, keyId: key.keyId });
        const least = Math.max(seen, remembered?.size ?? 0);
        const size = await outside.size();
        if (size < least) throw new RangeError(`it had ${least} entries, and now has ${size}`);
        seen = Math.max(seen, size);
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
        if (prove) await holdToSeen(head, memory, prove);
        // As verifying does: what nothing shows to continue what was seen is not remembered, and not refused.
        else if ((await compareSeen(head, memory)) === 'first') await rememberSeen([head], memory);
        return proof;
      } catch (cause) {
        throw failed(cause);
      }
    },
    ...(prove && {
      consistency: (from, to) =>
        prove(from, to).catch((cause: unknown) => {
          throw failed(cause);
        }),
    }),
  };
}
