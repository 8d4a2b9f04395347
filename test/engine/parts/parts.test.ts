import t from 'tap';
import { canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { replayRun } from '../../../engine/decide/replay-run.ts';
import { taskUndoing, workTasksOf } from '../../../engine/draft/undo.ts';
import type { PartsRecord } from '../../../store/record/summaries.ts';
import { resolveBase } from '../../../workspace/git/resolve-commit.ts';
import { long } from '../../rooms/long.ts';
import { add, threeTasksRun } from './three-tasks.ts';

const made = await threeTasksRun(t);
const { sample, view, repository, store } = made;
const { objects, refs } = store;
const { runId } = view;
const commit = view.decision?.commitSha ?? '';
const [record, content] = [refs.run(runId), refs.content(runId)];
const files = await objects.readMany(
  record,
  (await objects.list(record)).map(({ path }) => path),
);
const partsOf = (bytes: Uint8Array | undefined): PartsRecord => JSON.parse(String(bytes)) as PartsRecord;
const parts = partsOf(files.get('parts.json'));
const bytesOf = (value: unknown): Buffer => Buffer.from(`${canonicalize(value)}\n`);
const [first, second, third] = parts.parts;
const diffPath = (task: number): string => `task-${task}/revision-1/attempt-1/artifacts/part.diff`;

type Changeable = { -readonly [K in keyof PartsRecord]: PartsRecord[K] } & {
  parts: { -readonly [K in keyof PartsRecord['parts'][number]]: PartsRecord['parts'][number][K] }[];
};
const changed = (change: (parts: Changeable) => void): Buffer => {
  const copy = structuredClone(parts) as Changeable;
  change(copy);
  return bytesOf(copy);
};

type Part = PartsRecord['parts'][number];
/** The same with one part otherwise. */
const withPart = (at: number, more: Partial<Part>): Buffer =>
  changed((all) => Object.assign(all.parts[at] ?? {}, more));
const withFile = (at: number, more: Partial<Part['files'][number]>): Buffer =>
  changed((all) => Object.assign(all.parts[at]?.files[0] ?? {}, more));

t.test('the record holds the changes of each task in merge order', async (t) => {
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.match(
    parts.parts.map((part) => [part.task, part.attempt, part.files.map(({ path }) => path)]),
    [
      ['task-1', 'task-1/revision-1/attempt-1', ['src/list.js']],
      ['task-2', 'task-2/revision-1/attempt-1', ['src/two.js']],
      ['task-3', 'task-3/revision-1/attempt-1', ['src/list.js']],
    ],
  );
  t.equal(first?.base_tree, sample.git('rev-parse', `${commit}^^{tree}`));
  t.equal(second?.base_tree, first?.candidate_tree, 'from what stood before it in the merge');
  t.equal(third?.candidate_tree, sample.git('rev-parse', `${commit}^{tree}`));
  const diff = await objects.read(content, diffPath(2));
  t.match(String(diff), /\+\/\/ two\n/);
  t.equal(sha256Hex(diff ?? Buffer.alloc(0)), second?.digest);
  t.strictSame(await workTasksOf(store, runId), ['task-1', 'task-2', 'task-3']);
  t.equal(replayRun(files).firstDifference, undefined);
});

const lies: readonly (readonly [string, Buffer, string | RegExp])[] = [
  ['a part is left out', changed((all) => all.parts.splice(1, 1)), '/parts/1/base_tree'],
  ['the last one is', changed((all) => all.parts.pop()), '/parts'],
  ['a task has another name', withPart(1, { task: 'task-3' }), '/parts/1/task'],
  ['another file is said to have changed', withFile(1, { path: 'src/price.js' }), /src\/price\.js/],
  [
    'a file is said to have been another before',
    withFile(2, { old_blob: 'a'.repeat(40) }),
    '/parts/2/files src/list.js',
  ],
  ['its attempt has made another patch', withPart(0, { digest: 'a'.repeat(64) }), '/parts/0/digest'],
  [
    'it ends elsewhere',
    changed((all) => Object.assign(all, { candidate_tree: all.base_tree })),
    '/candidate_tree',
  ],
  ['it is no such record', Buffer.from('{}'), ''],
];

for (const [what, bytes, field] of lies)
  t.test(`replay refutes a changed \`parts.json\` (${what})`, async (t) => {
    const { firstDifference } = replayRun(new Map([...files, ['parts.json', bytes]]));
    t.equal(firstDifference?.file, 'parts.json');
    t.match(firstDifference?.field, field);
  });

t.test('replay compares a part with the digest of its diff in the provenance', async (t) => {
  const listed = (digest: string | undefined) => new Map([[diffPath(2), digest ?? '']]);
  t.equal(replayRun(files, listed(second?.digest)).firstDifference, undefined);
  t.match(replayRun(files, listed('a'.repeat(64))).firstDifference, { field: '/parts/1/digest' });
});

t.test('replay accepts a record without parts and reports a part of an unknown attempt', async (t) => {
  const without = new Map([...files].filter(([path]) => path !== 'parts.json'));
  t.equal(replayRun(without).firstDifference, undefined, 'as those of older versions');
  const refused = withPart(1, { attempt: 'task-9/revision-1/attempt-1' });
  t.match(replayRun(new Map([...files, ['parts.json', refused]])).firstDifference, {
    file: 'task-9/revision-1/attempt-1/patchset.json',
  });
});

long('the changes of one task can be undone unless a later task builds on them', async (t) => {
  const tip = await resolveBase(repository, 'main');
  const undo = (task: string) => taskUndoing(repository, store, { runId, commit, task }, tip);
  const two = await undo('task-2');
  t.match(two, { kind: 'patch', undoing: { files: [{ path: 'src/two.js', changeType: 'delete' }] } });
  const three = await undo('task-3');
  t.match(three, { kind: 'patch', undoing: { files: [{ path: 'src/list.js', changeType: 'modify' }] } });
  t.match(await undo('task-1'), { kind: 'built-upon', paths: ['src/list.js'], tasks: ['task-3'] });
  t.match(await undo('task-4'), { kind: 'unchanged' });
});

long('undoing a task is refused if the recorded parts do not lead to the commit', async (t) => {
  const tip = await resolveBase(repository, 'main');
  const undo = () => taskUndoing(repository, store, { runId, commit, task: 'task-2' }, tip);
  const write = (ref: string, path: string, bytes: Uint8Array): Promise<unknown> =>
    objects.writeTree(ref, { message: 'somebody', keepExisting: true, files: [[path, bytes]] });
  const own = (await objects.read(content, diffPath(2))) ?? Buffer.alloc(0);
  const lying = async (bytes: Uint8Array, diff?: string): Promise<unknown> => {
    await write(content, diffPath(2), diff === undefined ? own : Buffer.from(diff));
    await write(record, 'parts.json', bytes);
    return undo();
  };
  const other = add('src/two.js', '// another');
  const digestOf = (text: string): Buffer => withPart(1, { digest: sha256Hex(Buffer.from(text)) });
  t.match(await lying(bytesOf(parts), other), { kind: 'refuted', why: /is not what it says/ });
  t.match(await lying(digestOf(other), other), { kind: 'refuted', why: /leads to other files/ });
  t.match(await lying(digestOf('words'), 'words'), { kind: 'refuted', why: /found none in the input/ });
  const short = changed((all) => all.parts.splice(2, 1));
  t.match(await lying(short), { kind: 'refuted', why: /does not add up/ });
  const outside = withPart(1, { attempt: '../../x' });
  t.match(await lying(outside), { kind: 'refuted', why: /names of attempts/ });
  await lying(bytesOf(parts));
  t.match(await undo(), { kind: 'patch' }, 'and then as before');
});

t.test('undoing a task reports missing content or missing parts', async (t) => {
  const tip = await resolveBase(repository, 'main');
  const undo = () => taskUndoing(repository, store, { runId, commit, task: 'task-2' }, tip);
  await objects.remove(content);
  t.match(await undo(), { kind: 'gone' });
  await objects.writeTree(record, {
    message: 'an older version',
    keepExisting: false,
    files: [...files].filter(([path]) => path !== 'parts.json'),
  });
  t.match(await undo(), { kind: 'untold' });
});
