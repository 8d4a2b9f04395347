import t from 'tap';
import { firstDifference } from './same-output.ts';

t.test('ids, times and columns may differ, words may not', async (t) => {
  const shown =
    'run 01a22cd8-af7f-7f79-b8da-4d1ffb068320   9.5 s\ncommit ca09b567a03768f4de0f09b1dd1dbbee3b885b25';
  const again =
    'run 01a22cd9-0000-7f79-b8da-4d1ffb068320 100 ms\n\ncommit 0000b567a03768f4de0f09b1dd1dbbee3b885b25\n';
  t.equal(firstDifference(shown, again), undefined);
  t.match(
    firstDifference(shown, again.replace('commit', 'commits')),
    /^shown: commit ID\nfound: commits ID$/,
  );
});

t.test('`…` leaves out lines or a part of a line, and nothing else is left out', async (t) => {
  const output = 'one\ntwo\nthree\nfour\n';
  t.equal(firstDifference('one\n…\nfo…\n', output), undefined);
  t.equal(firstDifference('…\nthree\n…\n', output), undefined);
  t.equal(firstDifference('one\ntwo\nthree\n', output), 'not shown: four');
  t.equal(firstDifference('one\nthree\n…\n', output), 'shown: three\nfound: two');
  t.equal(firstDifference('one\n…\nfive\n', output), 'shown: five\nfound: two');
});
