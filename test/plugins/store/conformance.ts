import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { CaseRunner } from '../../../plugins/testers/run-cases.ts';
import { long } from '../../rooms/long.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { type StoreSubject, storeTester } from './store-tester.ts';

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

/** What many files or killed processes show takes as long as all else. */
const isDear = /ten thousand files|is killed/;

/** Runs a store of ours through the tester; `npm test` leaves out its dear cases. */
export async function conforms(path: string, name: string): Promise<void> {
  const runner: CaseRunner = {
    test: async (sentence, body) => (isDear.test(sentence) ? long(sentence, body) : t.test(sentence, body)),
  };
  await storeTester(runner, subjectOf(new URL(`../../../plugins/store/${path}`, import.meta.url), name));
}
