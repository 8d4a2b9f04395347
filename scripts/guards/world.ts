import { type Guard, within } from './guard.ts';

const dependencies = 'test/core/run/workspace-dependencies.test.ts';

/** What a check's world is made of, and what it may do in it. */
export const guards: readonly Guard[] = [
  ...within('core/run/workspace-dependencies/prepared-entry.ts', dependencies, [
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
  ...within('core/run/workspace-dependencies/prepare-cache-place.ts', dependencies, [
    [
      'nothing is removed behind a link',
      'if (!(await lstat(part)).isDirectory()) return;',
      'if (!(await lstat(part))) return;',
      'what nobody here will use',
    ],
  ]),
  ...within('core/run/open-workspace.ts', 'test/attack/confinement/hungry-check.test.ts', [
    [
      'what prepares a world may hold as much as a check',
      'maxMemoryBytes: maxMemoryBytes(ground.config),',
      '',
      'a check that holds too much',
    ],
  ]),
  ...within('core/run/prepare-ground.ts', 'test/core/plugin-trust/plugin-runs.test.ts', [
    [
      'so may rules of others',
      'maxMemoryBytes: maxMemoryBytes(asked),',
      '',
      'a plugin at a path of the repository',
    ],
  ]),
];
