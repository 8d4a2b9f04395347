import t from 'tap';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { Attempt } from '../../../engine/state/open-run.ts';
import { blameCandidate, blamedErrors } from '../../../engine/work/make-candidate.ts';
import { type Json, readRecordFile, readStoredRecord, toRecordBytes } from './stored-record.ts';

const stored = readStoredRecord('two-tasks-one-of-them-blamed');
const patchset = readRecordFile(stored, 'patchset.json');
const [file] = patchset.files as readonly Json[];

/** An attempt whose record holds a patchset for each of these attempts, of one file each. */
function recording(files: Readonly<Record<string, string>>): Attempt {
  return {
    identity: { contract: { effective: { execution: { retry: { maxRetries: 4 } } } } },
    services: {
      record: {
        read: async (path: string) => {
          const changed = files[path.replace('/patchset.json', '')];
          if (changed === undefined) throw new Error(`nothing at ${path}`);
          return toRecordBytes({ ...patchset, files: [{ ...file, path: changed }] });
        },
      },
    },
  } as unknown as Attempt;
}

const error = (path?: string): Finding => ({
  rule: 'sast',
  severity: 'error',
  message: 'm',
  ...(path === undefined ? {} : { path }),
});
const refused = (...findings: Finding[]) => ({ findings, stages: [] });
const part = (key: string, revision: number, attempt: number) => ({
  name: `${key}/revision-${revision}/attempt-${attempt}`,
  key,
  revision,
  attempt,
});

t.test('blames the task whose recorded patchset has the file, with its attempt and retries', async (t) => {
  const attempt = recording({ 'task-1/revision-2/attempt-3': 'a', 'task-2/revision-2/attempt-1': 'b' });
  const merged = [part('task-1', 2, 3), part('task-2', 2, 1)];
  t.strictSame(await blameCandidate(attempt, refused(error('a')), merged, 2), {
    merged: ['task-1/revision-2/attempt-3', 'task-2/revision-2/attempt-1'],
    tasks: [
      {
        id: 'task-1',
        attempt: 3,
        maxRetries: 4,
        count: 1,
        first: [{ rule: 'sast', severity: 'error', path: 'a' }],
      },
    ],
    unwritten: { count: 0, first: [] },
  });
});

t.test('counts the last attempt of a task, and restarts from 1 in a new plan revision', async (t) => {
  const attempt = recording({ 'task-1/revision-1/attempt-2': 'a', 'task-1/revision-2/attempt-5': 'b' });
  const merged = [part('task-1', 1, 2), part('task-1', 2, 5)];
  const countedIn = async (revision: number) =>
    (await blameCandidate(attempt, refused(error('a')), merged, revision))?.tasks[0]?.attempt;
  t.equal(await countedIn(2), 5);
  t.equal(await countedIn(3), 1);
});

t.test('blames no task and reads no record if no error names a file', async (t) => {
  t.equal(await blameCandidate(recording({}), refused(error()), [part('task-1', 1, 1)], 1), undefined);
});

t.test('returns the full errors keyed by task', async (t) => {
  const attempt = recording({ 'task-1/revision-1/attempt-1': 'a', 'task-2/revision-1/attempt-1': 'b' });
  const merged = [part('task-1', 1, 1), part('task-2', 1, 1)];
  const found = await blamedErrors(attempt, refused(error('b'), error('c')), merged);
  t.strictSame([...found], [['task-2', [error('b')]]]);
});
