import t from 'tap';
import { compareParts } from '../../../engine/decide/replay-run.ts';
import type { PartRecord } from '../../../store/record/summaries.ts';

type File = PartRecord['files'][number];

const blob = (name: string): string => name.repeat(40);
const counts = { binary: false, lines_added: 1, lines_deleted: 1 };
const [old_mode, new_mode] = ['100644', '100644'];
const added = (path: string, to: string): File => ({
  path,
  change_type: 'add',
  ...counts,
  new_mode,
  new_blob: blob(to),
});
const deleted = (path: string, from: string): File => ({
  path,
  change_type: 'delete',
  ...counts,
  old_mode,
  old_blob: blob(from),
});
const modified = (path: string, from: string, to: string): File => ({
  ...deleted(path, from),
  ...added(path, to),
  change_type: 'modify',
});
const moved = (
  change_type: 'rename' | 'copy',
  old_path: string,
  path: string,
  from: string,
  to = from,
): File => ({
  ...modified(path, from, to),
  old_path,
  change_type,
});

/** The first difference between what these parts did and what the run is said to have done. */
function compare(steps: readonly (readonly File[])[], whole: readonly File[]) {
  const trees = Array.from({ length: steps.length + 1 }, (_, at) => String(at).repeat(40));
  const treeAt = (at: number): string => trees.at(at) ?? '';
  const parts = steps.map((files, at) => ({
    task: `task-${at + 1}`,
    attempt: `task-${at + 1}/revision-1/attempt-1`,
    base_tree: treeAt(at),
    candidate_tree: treeAt(at + 1),
    digest: blob('d'),
    size_bytes: 1,
    files,
  }));
  const sum = { base_tree: treeAt(0), candidate_tree: treeAt(-1) };
  return compareParts({
    parts: { schema: 'urn:writ:parts:v1', ...sum, parts },
    whole: { ...sum, digest: blob('e'), files: whole },
    patchsetOf: () => ({ base_tree: 'another', candidate_tree: 'another', digest: blob('f'), files: [] }),
    inputOf: (attempt) => ({ task: { id: attempt.split('/')[0] ?? '', attempt: 1, maxRetries: 0 } }),
    nextOf: () => 'merge',
    listed: undefined,
  });
}

t.test('the parts add up to the whole patch across renames, copies and reverts', async (t) => {
  for (const [what, steps, whole] of [
    ['changed twice', [[modified('a', '1', '2')], [modified('a', '2', '3')]], [modified('a', '1', '3')]],
    ['changed and changed back', [[modified('a', '1', '2')], [modified('a', '2', '1')]], []],
    ['made and taken away', [[added('a', '1')], [deleted('a', '1')]], []],
    [
      'renamed, then changed',
      [[moved('rename', 'a', 'b', '1')], [modified('b', '1', '2')]],
      [moved('rename', 'a', 'b', '1', '2')],
    ],
    [
      'a rename that the whole does not see',
      [[moved('rename', 'a', 'b', '1')], [modified('b', '1', '2')]],
      [deleted('a', '1'), added('b', '2')],
    ],
    ['renamed there and back', [[moved('rename', 'a', 'b', '1')], [moved('rename', 'b', 'a', '1')]], []],
    [
      'its name is taken by another',
      [[moved('rename', 'a', 'b', '1')], [added('a', '2')]],
      [modified('a', '1', '2'), added('b', '1')],
    ],
    [
      'copied, and the source changed at once',
      [[moved('copy', 'a', 'b', '1'), modified('a', '1', '2')]],
      [modified('a', '1', '2'), added('b', '1')],
    ],
  ] as const)
    t.equal(compare(steps, whole), undefined, what);
});

t.test('reports a part whose files do not follow from the parts before it', async (t) => {
  const copied = [[modified('a', '1', '2')], [moved('copy', 'a', 'b', '1')]];
  t.match(compare(copied, [modified('a', '1', '2'), added('b', '1')]), { field: '/parts/1/files a' });
  const changed = [[modified('a', '1', '2')], [modified('a', '3', '4')]];
  t.match(compare(changed, [modified('a', '1', '4')]), { field: '/parts/1/files a' });
  t.match(compare([[added('a', '1')], [added('a', '2')]], [added('a', '2')]), { field: '/parts/1/files a' });
});

t.test('reports a file whose final state differs between the parts and the whole patch', async (t) => {
  t.match(compare([[added('a', '1')]], [added('a', '2')]), { field: '/parts a' });
  t.match(compare([[added('a', '1')]], []), { field: '/parts a' });
  t.match(compare([[added('a', '1')]], [added('a', '1'), deleted('b', '1')]), { field: '/parts b' });
});
