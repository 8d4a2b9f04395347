import { systemClock } from '../../../core/base/clock.ts';
import type { ChangeLogEntry, LifecycleStatus } from '../../../core/interfaces/intentspec.gen.ts';
import type { AdmittedContract } from '../../../engine/intent/admit-contract.ts';
import type { LifecycleActor } from '../../../engine/intent/close-intent.ts';
import { type IntentRunStore, withLandings } from '../../../engine/intent/find-intent.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { storeRefs } from '../../../store/stores.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { accepted, bytesOf, put, sample } from '../../spec/sample.ts';
import { makeRepository, type SampleRepository } from '../../workspace/git/sample-repository.ts';

export interface IntentScene {
  readonly sample: SampleRepository;
  readonly repository: Repository;
  readonly store: IntentRunStore;
}

/** A real repository with one commit, and the store over it. */
export async function openScene(t: { testdir(): string }): Promise<IntentScene> {
  const made = makeRepository(t.testdir());
  made.commit({ 'a.txt': 'a\n' });
  const repository = await openRepository(made.dir);
  const objects = openGitNativeStore(repository, { clock: systemClock });
  return {
    sample: made,
    repository,
    store: withLandings(repository, { objects, refs: storeRefs('refs/ai') }),
  };
}

/** The minimal contract under an id and a status. */
export function contractOf(
  id: string,
  status: LifecycleStatus,
  more: {
    readonly summary?: string;
    readonly changeLog?: readonly ChangeLogEntry[];
    readonly baseRef?: string;
  } = {},
): AdmittedContract {
  const document = sample('minimal');
  put(document, ['metadata', 'id'], id);
  put(document, ['lifecycle', 'status'], status);
  if (more.summary !== undefined) put(document, ['intent', 'summary'], more.summary);
  if (more.baseRef !== undefined) put(document, ['metadata', 'target', 'baseRef'], more.baseRef);
  if (more.changeLog)
    put(
      document,
      ['lifecycle', 'changeLog'],
      more.changeLog.map((entry) => ({ ...entry })),
    );
  const read = accepted(document);
  return { ...read, bytes: bytesOf(document), warnings: read.issues, mandatory: [] };
}

export const person: LifecycleActor = {
  by: { kind: 'user', id: 'Ada <ada@example.com>' },
  nowMs: Date.UTC(2026, 0, 2),
};
