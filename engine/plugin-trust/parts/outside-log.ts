import { isCount, parseCount, parseList, parseText, toFields } from '../../../core/base/json-pointer.ts';
import type { OutsideLog } from '../../../core/interfaces/sealing.ts';
import type { ManifestLog } from '../manifest-parts.ts';
import type { PartGround } from './handed.ts';

/** A log answers when a checkpoint covers the entry; some logs need several seconds. */
const withinMs = 120_000;
const maxBytes = 256 * 1024;
const maxHashes = 63;

/**
 * A log that a plugin accesses. Only the form of its answers is checked; the caller that pins the log's key verifies
 * them.
 */
export function outsideLog(
  { module, consistency }: ManifestLog,
  { process, options, handed }: PartGround,
): OutsideLog {
  const ask = async (call: string, args: readonly unknown[], more: object): Promise<unknown> => {
    const { secrets, files, masked } = await handed();
    const context = { options, secrets, files, ...more };
    const bounds = { idleMs: withinMs, withinMs, maxBytes };
    return process.ask({
      module,
      call,
      args: [...args, context],
      secrets: masked,
      ...bounds,
    });
  };
  return {
    async append(body, behind) {
      const known = ['logIndex', 'treeSize', 'rootHash', 'hashes', 'checkpoint'];
      const fields = toFields(await ask('append', [body], { behind }), 'a proof', known);
      return {
        logIndex: parseCount(fields, 'logIndex', 0),
        treeSize: parseCount(fields, 'treeSize', 1),
        rootHash: toHash('rootHash', fields.rootHash),
        hashes: parseList(fields.hashes, (hash) => toHash('hashes', hash), maxHashes),
        checkpoint: parseText(fields, 'checkpoint', 16_384),
      };
    },
    async size() {
      const size = await ask('size', [], {});
      if (!isCount(size, 0)) throw new TypeError('expected `size` to answer how many entries there are');
      return size;
    },
    ...(consistency && {
      async consistency(from: number, to: number) {
        const answer = await ask('consistency', [from, to], {});
        const { hashes } = toFields(answer, 'a consistency proof', ['hashes']);
        return { hashes: parseList(hashes, (hash) => toHash('hashes', hash), maxHashes) };
      },
    }),
  };
}

/** Octets have become base64 on their way. */
function toHash(field: string, value: unknown): Buffer {
  const text = parseText({ [field]: value }, field, 4096, 0);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 32 && bytes.toString('base64') === text) return bytes;
  const found = /^[0-9a-f]{64}$/i.test(text) ? 'hexadecimal' : `${text.length} characters`;
  throw new TypeError(`expected \`${field}\` as 32 octets or their base64 (44 characters), got ${found}`);
}
