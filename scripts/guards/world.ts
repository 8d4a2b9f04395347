import { type Guard, within } from './guard.ts';

const dependencies = 'test/engine/run/judge/workspace-dependencies.test.ts';

/** What a check's world is made of, and what it may do in it. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/workspace-dependencies/prepared-entry.ts', dependencies, [
    [
      'the word of this user',
      'return voucher.vouched(said(key, output, sha256), mac) ? sha256 : undefined;',
      "return voucher.vouched(said(key, output, sha256), mac) || sha256 !== '' ? sha256 : undefined;",
      'a cache entry is taken only',
    ],
    [
      'the digest of the tree itself',
      "if ('fault' in digest || digest.sha256 !== recorded) return undefined;",
      "if ('fault' in digest) return undefined;",
      'a cache entry is taken only',
    ],
    [
      'for this entry alone',
      "return [key, sha256, output].join(' ');",
      "return [sha256, output].join(' ') + (key === '' ? key : '');",
      'a cache entry is taken only',
    ],
    [
      'no way through a link',
      'if (recorded === undefined || !(await isPlain(entry.path, source))) return undefined;',
      'if (recorded === undefined || (await isPlain(entry.path, source)) === undefined) return undefined;',
      'a cache entry is taken only',
    ],
  ]),
  ...within('engine/run/judge/workspace-dependencies/prepare-cache-place.ts', dependencies, [
    [
      'nothing is removed behind a link',
      'if (!(await lstat(part)).isDirectory()) return;',
      'if (!(await lstat(part))) return;',
      'what nobody here will use',
    ],
  ]),
  ...within('plugins/sandbox/socket-memory.ts', 'test/attack/confinement/limits.test.ts', [
    [
      'sockets that tell nothing',
      'Math.max(0, others - unasked) * each',
      'Math.max(0, others - 2 ** 40) * each',
      'bubblewrap: a command is ended',
    ],
    [
      'queues of connections',
      'Number.parseInt(sent, 16) + Number.parseInt(received, 16)',
      '0 * (sent.length + received.length)',
      'bubblewrap: a command is ended',
    ],
    ['some hundred are let alone', 'const unasked = 512;', 'const unasked = 0;', 'bubblewrap: some hundred'],
  ]),
  ...within('engine/run/judge/carry/in-world.ts', 'test/attack/one-world/rewritten.test.ts', [
    [
      'tracked files are what they were',
      'rewrittenFindings(changed,',
      'rewrittenFindings([],',
      'a suite that rewrites what it tests',
    ],
  ]),
  ...within('engine/vcs/compare-small-tree.ts', 'test/engine/vcs/exported-files.test.ts', [
    [
      'what a link leads to is not what was there, in a small tree either',
      'lstatSync(path).isDirectory()',
      "lstatSync(path + '/').isDirectory()",
      'what became of an export',
    ],
    [
      'all bytes of a small tree count',
      'readFileSync(file).equals(bytes)',
      'readFileSync(file).length === bytes.length',
      'what became of an export',
    ],
  ]),
  ...within('engine/vcs/exported-files.ts', 'test/engine/vcs/exported-files.test.ts', [
    [
      'an index that no check can write',
      'GIT_INDEX_FILE: indexFile }',
      "GIT_INDEX_FILE: join(directory, '.git', 'index') }",
      'what became of an export',
    ],
    [
      'change times count',
      "['core.trustctime', 'true']",
      "['core.trustctime', 'false']",
      'what became of an export',
    ],
    [
      'repositories that a check made are not asked',
      ", '--ignore-submodules=all'",
      '',
      'what became of an export',
    ],
    [
      'what a link leads to is not what was there',
      "now === '000000'",
      "now === ''",
      'what became of an export',
    ],
  ]),
  ...within('engine/run/judge/find-dependencies.ts', 'test/attack/confinement/hungry-check.test.ts', [
    [
      'what prepares a world may hold as much as a check',
      'maxMemoryBytes: maxMemoryBytes(ground.config),',
      '',
      'a check that holds too much',
    ],
  ]),
  ...within('engine/run/open/open-judges.ts', 'test/engine/plugin-trust/plugin-runs.test.ts', [
    [
      'so may rules of others',
      'maxMemoryBytes: maxMemoryBytes(asked),',
      '',
      'a plugin at a path of the repository',
    ],
  ]),
];
