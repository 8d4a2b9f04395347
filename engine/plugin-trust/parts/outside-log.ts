import { isCount, parseCount, parseList, parseText, toFields } from '../../../core/base/parse-fields.ts';
import type { OutsideLog } from '../../../core/contract/outside-log.ts';
import type { ManifestLog } from '../manifest-log.ts';
import type { PartGround } from './part-ground.ts';

/** A log answers once a checkpoint covers the entry, which takes some of them seconds. */
const withinMs = 120_000;
const maxBytes = 256 * 1024;
const maxHashes = 63;

/** A log that a plugin speaks to: its answers in their form. Whether they hold is for whoever pins the log's key. */
export function outsideLog({ module }: ManifestLog, { process, options, handed }: PartGround): OutsideLog {
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
        rootHash: toHash(fields.rootHash),
        hashes: parseList(fields.hashes, toHash, maxHashes),
        checkpoint: parseText(fields, 'checkpoint', 16_384),
      };
    },
    async size() {
      const size = await ask('size', [], {});
      if (!isCount(size, 0)) throw new TypeError('expected `size` to answer how many entries there are');
      return size;
    },
  };
}

function toHash(value: unknown): Buffer {
  const text = parseText({ hash: value }, 'hash', 44);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== text)
    throw new TypeError('expected a hash of 32 octets in base64');
  return bytes;
}
