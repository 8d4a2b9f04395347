/* The store `external-s3` as the tester opens it: each ref that the tester writes is a content ref in the bucket. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectStore } from '../../../core/interfaces/store.ts';
import type { StoreSource } from '../../../core/interfaces/store-source.ts';
import { externalS3 } from '../../../plugins/store/external-s3-store.ts';

/** Untracked file of the repository with the configuration. */
export const configFile = 's3.toml';

const secrets = { env: { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-test' } };
/** `refs/ai/runs/one` → `refs/ai/content/one`. */
const inward = (ref: string): string => ref.replace(/^refs\/ai\/runs(?=\/|$)/, 'refs/ai/content');
const outward = (ref: string): string => ref.replace(/^refs\/ai\/content(?=\/|$)/, 'refs/ai/runs');

export const contentInS3: StoreSource = {
  open(place) {
    const config = async () => readFileSync(join(place.repository.root, configFile));
    const store = externalS3(secrets).open({ ...place, config });
    const mapped: ObjectStore = {
      writeTree: (ref, write) => store.writeTree(inward(ref), write),
      writeTrees: async (writes) => store.writeTrees?.(writes.map(([ref, write]) => [inward(ref), write])),
      version: (ref) => store.version(inward(ref)),
      read: (ref, path) => store.read(inward(ref), path),
      readMany: (ref, paths) => store.readMany(inward(ref), paths),
      list: (ref) => store.list(inward(ref)),
      refs: async (prefix) =>
        (await store.refs(inward(prefix))).map(({ ref, version }) => ({ ref: outward(ref), version })),
      remove: (ref) => store.remove(inward(ref)),
    };
    return mapped;
  },
};
