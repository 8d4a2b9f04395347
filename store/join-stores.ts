import { WritError } from '../core/base/errors.ts';
import type { ObjectStore } from '../core/interfaces/store.ts';
import type { OpenStore } from './open-stores.ts';

/**
 * The stores of a repository as one, for whoever has a ref and no contract: a ref is where it is, in the first that has
 * it; a new one goes into the first. SLOT_UNKNOWN where there is no store at all.
 */
export function joinStores(stores: readonly Pick<OpenStore, 'objects'>[]): ObjectStore {
  const all = stores.map(({ objects }) => objects);
  const [first] = all;
  if (first === undefined) throw new WritError('SLOT_UNKNOWN', { message: 'slot `store` is empty' });
  if (all.length === 1) return first;
  const holderOf = async (ref: string): Promise<ObjectStore> => {
    for (const one of all) if ((await one.version(ref)) !== undefined) return one;
    return first;
  };
  return {
    writeTree: async (ref, write) => (await holderOf(ref)).writeTree(ref, write),
    async version(ref) {
      for (const one of all) {
        const found = await one.version(ref);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    read: async (ref, path) => (await holderOf(ref)).read(ref, path),
    readMany: async (ref, paths) => (await holderOf(ref)).readMany(ref, paths),
    list: async (ref) => (await holderOf(ref)).list(ref),
    async refs(prefix) {
      const found = new Map<string, { readonly ref: string; readonly version: string }>();
      for (const one of all)
        for (const held of await one.refs(prefix)) if (!found.has(held.ref)) found.set(held.ref, held);
      return [...found.values()].sort((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
    },
    async remove(ref) {
      for (const one of all) await one.remove(ref);
    },
  };
}
