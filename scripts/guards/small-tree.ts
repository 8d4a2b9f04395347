import { type Guard, within } from './guard.ts';

/** What leaves a tree to git that is not plain. */
export const guards: readonly Guard[] = within(
  'engine/vcs/small-tree.ts',
  'test/engine/vcs/small-tree.test.ts',
  [
    [
      'names that git looks at twice',
      'segment.length <= maxSegmentLength && plainSegment.test(segment)',
      'segment.length <= maxSegmentLength',
      'whatever is not plain',
    ],
    [
      'names that are one on some file systems',
      'if (files.size < listed.length || [...files].some((file) => directories.has(file))) return undefined;',
      '',
      'whatever is not plain',
    ],
    ['links with names of git', '!ownNameOfGit.test(path) &&', '', 'whatever is not plain'],
    ['paths in order, each once', 'path <= before ||', '', 'whatever is not plain'],
  ],
);
