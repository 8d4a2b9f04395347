import type { ObjectStore } from '../../../core/interfaces/store.ts';
import type { StoreSource } from '../../../core/interfaces/store-source.ts';
import { externalLocalSource } from '../../../plugins/store/external-local-store.ts';

function broken(change: (sound: ObjectStore) => Partial<ObjectStore>): StoreSource {
  return {
    open: (place) => {
      const sound = externalLocalSource.open(place);
      return { ...sound, ...change(sound) };
    },
  };
}

export const losesBytes = broken((sound) => ({
  read: async (ref, path) => (await sound.read(ref, path))?.subarray(0, 1000),
}));
export const ignoresExpectations = broken((sound) => ({
  writeTree: (ref, { expectedOld: _, ...write }) => sound.writeTree(ref, write),
}));
export const forgetsTheTime = broken((sound) => ({
  writeTree: (ref, { atMs: _, ...write }) => sound.writeTree(ref, write),
}));
export const listsByText = broken((sound) => ({
  refs: async (prefix) =>
    (await sound.refs('refs/ai/')).filter(({ ref }) => ref.startsWith(prefix.replace(/\/$/, ''))),
}));
export const neverRemoves = broken(() => ({ remove: async () => {} }));
export const replacesAlways = broken((sound) => ({
  writeTree: (ref, write) => sound.writeTree(ref, { ...write, keepExisting: false }),
}));
export const writesBeforeTheEnd = broken((sound) => ({
  async writeTree(ref, write) {
    let version = '';
    for await (const file of write.files)
      version = await sound.writeTree(ref, { ...write, files: [file], keepExisting: true });
    return version;
  },
}));
