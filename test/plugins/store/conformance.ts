import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type StoreSubject, storeTester } from '../../../testing.ts';
import { makeRepository } from '../../engine/vcs/sample-repository.ts';

/** Where the tester gets its repositories: removed when the tests of this process have ended. */
export function subjectOf(module: URL, name: string): StoreSubject {
  const root = mkdtempSync(join(tmpdir(), 'writ-stores-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  let made = 0;
  return {
    module,
    export: name,
    repository: () => {
      made += 1;
      return makeRepository(join(root, String(made))).dir;
    },
  };
}

/** Runs a store of ours through the tester. */
export async function conforms(path: string, name: string): Promise<void> {
  await storeTester(t, subjectOf(new URL(`../../../plugins/store/${path}`, import.meta.url), name));
}
