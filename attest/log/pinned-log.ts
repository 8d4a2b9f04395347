/* Holds a log of others to the key that the policy commit pins, and to what this user has seen of it. */
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { LogProof, OutsideLog, OutsideProof, TransparencyLog } from '../../core/interfaces/sealing.ts';
import { type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import {
  type CheckpointMemory,
  compareSeen,
  holdToSeen,
  isForked,
  rememberSeen,
} from './checkpoint-memory.ts';
import { leafHash, rootFromInclusion } from './merkle.ts';
import { parseVkey } from './note.ts';

/** Which log of others is meant, and what this user has seen of it. */
interface PinnedLog {
  readonly mode: string;
  readonly name: string;
  /** What messages call it; default: a log of a plugin, by its name. */
  readonly title?: string;
  readonly vkey: string;
  readonly memory: CheckpointMemory;
}

/**
 * A log of others, which a plugin or a client connects to. The policy commit pins its key. Each answer needs a
 * checkpoint signed by that key, and a path from the submitted bytes to its root.
 *
 * The size must not shrink, and the log must be consistent with the user's stored checkpoints. If the log offers no
 * consistency proofs, only its first stored size is compared: another tree of that size is refused.
 *
 * Otherwise throws LOG_FAILED with the plugin's `log` and the cause, LOG_FORKED, or STATE_CORRUPT for damaged stored
 * checkpoints.
 */
export function pinnedLog(
  { mode, name, title = `the log \`${name}\` of a plugin`, vkey, memory }: PinnedLog,
  outside: OutsideLog,
): TransparencyLog {
  const key = parseVkey(vkey);
  const prove = outside.consistency?.bind(outside);
  let seen = 0;
  const failed = (cause: unknown): WritError => {
    const detail = { ...(isWritError(cause) && cause.detail), mode, log: name };
    const message = `${title}: ${messageOf(cause)}`;
    if (isForked(cause)) return new WritError('LOG_FORKED', { message, detail, cause });
    // Damaged local state is no evidence about the log.
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
        // The memory is read before the request, so that concurrent appends do not look like a rollback.
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
        // Responses to concurrent submissions may overtake each other. None may be older than the state before them.
        if (proof.treeSize < least)
          throw new RangeError(`it had ${least} entries, and now has ${proof.treeSize}`);
        if (prove) await holdToSeen(head, memory, prove);
        // As in verification: a checkpoint without a consistency proof is neither stored nor refused.
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
