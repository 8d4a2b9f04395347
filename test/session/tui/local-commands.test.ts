import t from 'tap';
import { type Line, textOf } from '../../../session/screen/line.ts';
import type { SessionDoor } from '../../../session/screen/session-door.ts';
import { readLocal } from '../../../session/tui/local-commands.ts';
import { changeLines, findThread, reviewHunk } from '../../../session/tui/show/show-local.ts';

t.test('the screen reads its own commands and leaves all others to the session', async (t) => {
  t.strictSame(readLocal('/approvals'), { type: 'approvals' });
  t.strictSame(readLocal(' /approvals revoke 2 '), { type: 'revoke', which: '2' });
  t.strictSame(readLocal('/plan'), { type: 'plan' });
  t.equal(readLocal('/plan continue 4'), undefined);
  t.equal(readLocal('/goal start x'), undefined);
  t.equal(readLocal('a plain word'), undefined);
  t.strictSame(readLocal('/control reclaim'), { type: 'reclaim' });
  t.match(readLocal('/control'), { type: 'none' });
  t.strictSame(readLocal('/contract'), { type: 'contract' });
  t.strictSame(readLocal('/reject 2 not in this file'), {
    type: 'review',
    hunk: 2,
    verdict: 'reject',
    comment: 'not in this file',
  });
  t.strictSame(readLocal('/keep 1'), { type: 'review', hunk: 1, verdict: 'keep' });
  t.strictSame(readLocal('/diff x'), { type: 'none', why: 'expected `/diff`' }, 'not sent to the session');
  for (const wrong of ['/keep', '/keep 0', '/keep x', '/comment 1', '/reject'])
    t.match(readLocal(wrong), { type: 'none' }, wrong);
});

t.test('hunks of the newest change are numbered, and a review by number reaches the session', async (t) => {
  const said: unknown[] = [];
  const snapshot = {
    patchsets: [
      {
        id: 'p',
        status: 'proposed',
        updatedAt: '',
        changes: [
          {
            path: 'a\u001b[31m.ts',
            changeType: 'modify',
            diff: '--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n@@ -9 +9 @@\n-x\n+y\n',
            hunks: [
              { id: 'h1', header: '@@ -1 +1 @@' },
              { id: 'h2', header: '@@ -9 +9 @@' },
            ],
          },
        ],
      },
    ],
    reviews: [{ patchset: 'p', path: 'a.ts', hunk: 'h1', verdict: 'reject', comment: 'no' }],
  } as unknown as ReturnType<SessionDoor['snapshot']>;
  const door = {
    snapshot: () => snapshot,
    review: async (one: unknown) => void said.push(one),
  } as unknown as SessionDoor;
  const lines = changeLines(snapshot, 80).map((line: Line) => textOf(line));
  t.match(lines, [
    'Change proposed',
    '',
    /^1 a.*\.ts {2}rejected {2}“no”$/,
    '@@ -1 +1',
    '1 - old',
    '1 + new',
    '',
    /^2 a/,
  ]);
  t.notMatch(lines.join(''), /\p{Cc}/u);
  await reviewHunk(door, { type: 'review', hunk: 2, verdict: 'keep' });
  t.match(said, [{ patchset: 'p', hunk: 'h2', verdict: 'keep' }]);
  const refused = { id: 'q', status: 'rejected', updatedAt: '', changes: [] };
  const held = { ...snapshot, patchsets: [...snapshot.patchsets, refused], held: { patchset: 'p' } };
  const shown = changeLines(held as unknown as typeof snapshot, 80);
  t.equal(textOf(shown[0] ?? []), 'Change proposed', 'what is held is what is reviewed');
  const told = {};
  changeLines(snapshot, 80, told);
  const [old] = snapshot.patchsets;
  const newer = { ...snapshot, patchsets: [old, { ...old, id: 'newer' }] } as typeof snapshot;
  await reviewHunk({ ...door, snapshot: () => newer }, { type: 'review', hunk: 1, verdict: 'keep' }, told);
  t.match(said.at(-1), { patchset: 'p', hunk: 'h1' }, 'a number is of what was told, not of what came since');
  const third = { type: 'review', hunk: 3, verdict: 'keep' } as const;
  await t.rejects(reviewHunk(door, third), { code: 'NOT_FOUND', message: /no hunk 3: .* 1 to 2$/ });
  const none = { ...door, snapshot: () => ({ ...snapshot, patchsets: [] }) };
  await t.rejects(reviewHunk(none, third), { code: 'NOT_FOUND', message: /nothing was changed yet/ });
  t.equal(said.length, 2);
});

t.test('a thread is found by its id or by a unique prefix', async (t) => {
  const ids = ['aa-1', 'aa-2', 'b-1', 'b'];
  const threads: SessionDoor['threads'] = async ({ offset }) => ({
    items: ids.slice(offset, offset + 1).map((id) => ({ id, archived: false, createdAt: '', updatedAt: '' })),
    ...(offset + 1 < ids.length ? { nextOffset: offset + 1 } : {}),
  });
  t.equal(await findThread({ threads }, 'aa-2'), 'aa-2');
  t.equal(await findThread({ threads }, 'b'), 'b');
  t.equal(await findThread({ threads }, 'b-'), 'b-1');
  t.equal(await findThread({ threads }, 'aa'), undefined, 'two begin so');
  t.equal(await findThread({ threads }, 'foo'), undefined);
});
