import type { Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { createRecordedWorker, type RecordedAnswer } from '../../../plugins/recorded-worker/plugin.ts';
import { findRun } from '../../../store/record/list-records.ts';
import type { RunStore } from '../../../store/stores.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { type Json, makeSample, merge, type Sample } from '../sample.ts';

/** A patch that adds a file. */
export function add(path: string, ...lines: string[]): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
}

const list = ['// 1', '// 2', '// 3', '// 4', '// 5', '// 6', '// 7', '// 8', '// 9'];

/** Three Tasks: the first and the second apart, the third upon what the first made. */
const contract: Json = {
  intent: {
    changeType: 'feature',
    objectives: ['write src/list.js', 'write src/two.js', 'extend src/list.js'],
    inScope: ['src/', 'test/'],
  },
  execution: { replan: { triggers: [] } },
};

export const threeAnswers: readonly RecordedAnswer[] = [
  { task: 1, attempt: 1, patch: add('src/list.js', ...list) },
  { task: 2, attempt: 1, patch: add('src/two.js', '// two') },
  {
    task: 3,
    attempt: 1,
    patch:
      'diff --git a/src/list.js b/src/list.js\n--- a/src/list.js\n+++ b/src/list.js\n@@ -1,3 +1,3 @@\n // 1\n-// 2\n+// two of three\n // 3\n',
  },
];

/** A sealed run of three Tasks, and where it is kept. */
export interface ThreeTasks {
  readonly sample: Sample;
  readonly view: RunView;
  readonly repository: Repository;
  readonly store: RunStore;
}

export async function threeTasksRun(
  t: Pick<Test, 'teardown'>,
  answers: readonly RecordedAnswer[] = threeAnswers,
  ...spec: readonly Json[]
): Promise<ThreeTasks> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const worker = createRecordedWorker(answers, async () => {});
  const view = await sample.run({ worker }, spec.reduce(merge, contract));
  const repository = await openRepository(sample.root);
  await using engine = await sample.engine();
  const { store } = await findRun(engine.slots.store, repository, systemClock, view.runId);
  return { sample, view, repository, store };
}
