import { type Guard, within } from './guard.ts';

const record = 'test/attack/verify-target/run-record.test.ts';
const keptSpec = 'test/engine/store/record/kept-spec.test.ts';
const onlyReads = 'test/engine/vcs/only-reads.test.ts';
const objects = 'test/attack/verify-target/objects.test.ts';

/** That a repository holds, under the ids of a sealed commit, the bytes that they name. */
export const guards: readonly Guard[] = [
  ...within('engine/vcs/hash-tree.ts', objects, [
    [
      'objects are not believed by name',
      'else if (answer.id !== id) wrong',
      "else if (answer.id === '') wrong",
      'a file, directory or tree',
    ],
    [
      'what cannot be read is said',
      "if (answer === 'absent') absent",
      "if (answer === 'damaged') absent",
      'what cannot be read',
    ],
    ['who else keeps objects is said', "line !== '' && !line", "line === '' && !line", 'borrowed objects'],
  ]),
  ...within('plugins/store/git-native-store.ts', 'test/plugins/store/git-native-store.test.ts', [
    [
      'a listing is of one version',
      'listed?.version === version ? listed : undefined',
      'listed',
      'what is read after a listing',
    ],
  ]),
  ...within('engine/vcs/list-ref-files.ts', 'test/engine/vcs/list-ref-files.test.ts', [
    [
      'what is no file is left to git',
      'if (!entry.isFile()) return false;',
      '',
      'what is not plain in the files',
    ],
    ['few files are read', 'entriesLeft < 0', 'entriesLeft < -1e9', 'many files are listed by git'],
    [
      'a packed name is one of a ref',
      'if (!isRefName(ref)) return undefined;',
      '',
      'what is not plain in the files',
    ],
  ]),
  ...within('engine/vcs/git.ts', onlyReads, [
    [
      'who only reads starts no program that a repository names',
      'if (onlyReads && !readers.includes(args[0]))',
      'if (onlyReads && args.length === 0)',
      'who only reads asks no git',
    ],
  ]),
  ...within('engine/vcs/ref-files.ts', onlyReads, [
    [
      'no file is taken for a ref where refs are kept in another way',
      '/refstorage/i',
      '/refstorage/',
      'who only reads leaves refs to git',
    ],
  ]),
  ...within('engine/vcs/plan-target.ts', onlyReads, [
    [
      'who else works on a branch is asked where there are other work trees',
      'if (!(await isOnlyWorkTree(repo))) return undefined;',
      '',
      'branches are the same',
    ],
  ]),
  ...within('engine/vcs/hash-objects.ts', 'test/engine/vcs/object-reader.test.ts', [
    [
      'a git that is gone damages no object',
      "if (answer === 'damaged' && git.isUsed && answers.isUntouched) return false;",
      '',
      'a tree is hashed by the git that is kept',
    ],
  ]),
  ...within('attest/verify/verify-tree.ts', objects, [
    [
      'other bytes are a refutation',
      "if (wrong.length > 0) throw refuted('mismatch', { found: wrong });",
      '',
      'a pack that holds other bytes',
    ],
    [
      'what is not here is not verified',
      "if (absent.length > 0) throw unavailable('missing', { found: absent });",
      '',
      'what cannot be read',
    ],
  ]),
  ...within('api/verify/find-commit.ts', objects, [
    [
      'a bundle is about the commit of that id',
      "if (reckoned !== commit.id) throw refuted('mismatch', { expected: commit.id, found: reckoned });",
      '',
      'a commit of other bytes',
    ],
    [
      'and about its files',
      'requireOwnBytes(await hashTree(repository, tree));',
      '',
      'a commit of other bytes',
    ],
  ]),
  ...within('api/verify/verify-target.ts', objects, [
    [
      'a commit is what its id names',
      'if (reckoned !== undefined && reckoned !== commit)',
      'if (reckoned === "")',
      'a commit of other bytes',
    ],
  ]),
  ...within('engine/store/record/kept-spec.ts', keptSpec, [
    ['a kept contract is bounded', 'if (size > maxSpecBytes) throw', 'if (size < 0) throw', 'a larger one'],
    ['a kept contract is a file', 'if (found.isFile()) return found;', 'return found;', 'what is no file'],
    ['a kept contract is no link', 'constants.O_NOFOLLOW | ', '', 'what is no file'],
  ]),
  ...within('engine/vcs/require-plain-files.ts', 'test/engine/vcs/require-plain-files.test.ts', [
    [
      'git reads no pipe and no device',
      'if (found === undefined ||',
      'if (found !== undefined ||',
      'a pipe or device',
    ],
  ]),
  ...within('engine/vcs/tree.ts', record, [
    [
      'a tree that is not here is not refuted',
      'if (object === undefined) throw absent(id);',
      'if (object === undefined) throw unreadable(id);',
      'a ref that holds no record',
    ],
    [
      'nor is a root',
      "if (named.type === 'commit') throw",
      "if (named.type === '') throw",
      'a ref that holds no record',
    ],
  ]),
  ...within('engine/vcs/repository.ts', 'test/engine/vcs/require-plain-files.test.ts', [
    ['every repository is looked at', 'await requirePlainFiles(commonDir);', '', 'a repository'],
  ]),
  ...within('api/verify/unreadable.ts', record, [
    [
      'a record that is none is a verdict',
      "if (isWritError(fault, 'OBJECT_CORRUPT')) return nothingThere(fault.message, 'malformed');",
      '',
      'a ref that holds no record',
    ],
    [
      'what is not here is not refuted',
      'if (absent !== undefined) return',
      "if (absent === '') return",
      'a ref that holds no record',
    ],
    [
      'a record may be too large',
      "isWritError(fault, 'INPUT_TOO_LARGE')",
      'fault === 1',
      'a ref that holds no record',
    ],
    [
      'a ref may name anything',
      "tree !== undefined || command === 'cat-file'",
      'tree === 1',
      'a ref that holds no record',
    ],
  ]),
  ...within('attest/verify/verify-decided.ts', objects, [
    [
      'what was judged is what ids name',
      'await verifyTree(list, stored, claims.tree);',
      "list.settle('tree-objects', 'passed');",
      'nothing is sealed over',
    ],
  ]),
  ...within('engine/vcs/git-environment.ts', 'test/engine/vcs/commit-graph.test.ts', [
    [
      'what a commit-graph says is not asked',
      "['core.commitGraph', 'false'],",
      '',
      'a commit-graph that lies',
    ],
  ]),
];
