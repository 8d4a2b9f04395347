import { type Guard, within } from './guard.ts';

const parts = 'test/engine/run/parts/parts.test.ts';
const pure = 'test/engine/run/decide/replay-parts.test.ts';
const said = 'test/session/work/undo-task.test.ts';

/** What the record says of single Tasks of a run, held against what the run changed. */
export const guards: readonly Guard[] = [
  ...within('engine/run/decide/replay-run.ts', parts, [
    ['the verifier judges parts', '    replayParts(files, listed);\n', '', 'the verifier refutes parts'],
  ]),
  ...within('engine/run/decide/replay-parts.ts', parts, [
    [
      'parts follow one another',
      '/base_tree`, at, part.base_tree)',
      '/base_tree`, at, at)',
      'the verifier refutes parts that do not bear the change: a part is left out',
    ],
    [
      'a part is of the task of its attempt',
      'inputOf(part.attempt).task?.id, part.task)',
      'part.task, part.task)',
      'the verifier refutes parts that do not bear the change: a task has another name',
    ],
    [
      'what was merged with nothing is what its attempt made',
      'own.base_tree === part.base_tree ?',
      "own.base_tree === '' ?",
      'the verifier refutes parts that do not bear the change: its attempt has made another patch',
    ],
    [
      'a part starts from what stood there',
      'const problem = known && says(path, known.after, before);',
      "const problem = known && says(path, '', '');",
      'the verifier refutes parts that do not bear the change: a file is said',
    ],
    [
      'parts are held to the digests that the provenance lists',
      'listed?.get(partContentPath(part)) ?? content',
      'content',
      'the verifier holds a part to the digest',
    ],
    [
      'files add up to those of the run',
      'compareSums(files, sumOf(whole),',
      'compareSums(new Map(), new Map(),',
      'the verifier refutes parts that do not bear the change: another file',
    ],
  ]),
  ...within('engine/run/decide/replay-parts.ts', pure, [
    [
      'a copy is made of what stood there',
      'const problem = source && says(from, source.after, old);',
      "const problem = source && says(from, '', '');",
      'a file is copied from what it was',
    ],
    [
      'a file that is renamed is gone under its name',
      "changes.set(from, { before: old, after: changes.get(from)?.after ?? '' });",
      '{}',
      'files add up under whatever names',
    ],
  ]),
  ...within('engine/run/record/read-parts.ts', parts, [
    [
      'a diff is the one that the part names',
      'if (sha256Hex(diff) !== part.digest)',
      "if (part.digest === '')",
      'what does not lead to the commit',
    ],
    [
      'a diff leads where the part says',
      'if (candidateTree !== part.candidate_tree)',
      "if (candidateTree === '')",
      'what does not lead to the commit',
    ],
    [
      'parts add up to the commit',
      'if (tree !== (await treeOf(scratch, commit)))',
      "if (tree === '')",
      'what does not lead to the commit',
    ],
  ]),
  ...within('engine/store/record/parts.ts', parts, [
    [
      'a part is below the name of an attempt',
      'if (!names.every((name) => attemptName.test(name)))',
      "if (names.includes(''))",
      'what does not lead to the commit',
    ],
  ]),
  ...within('engine/run/draft/task-undoing.ts', parts, [
    [
      'what a later task changed is not taken back',
      'if (undoing.conflicts === undefined)',
      "if (undoing.bytes?.toString() !== '')",
      'one task is taken back alone',
    ],
  ]),
  ...within('session/state/slash/undo.ts', said, [
    ['only a task has such a name', '|(task-\\d{1,4}))$/', '|(\\S+))$/', 'a task is named'],
  ]),
];
