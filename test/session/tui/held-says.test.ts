import t from 'tap';
import type { Asked } from '../../../session/screen/asked.ts';
import { textOf } from '../../../session/screen/line.ts';
import { statusItems, statusLine } from '../../../session/screen/status-line.ts';
import { optionsOf } from '../../../session/state/interaction.ts';
import { heldQuestion } from '../../../session/state/questions.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { drawCard, openCard } from '../../../session/tui/card.ts';
import { newWorld } from '../state/walk.ts';

const review = {
  runId: 'run',
  commit: 'c',
  branch: 'refs/heads/writ/review-run',
  target: { ref: 'refs/heads/main', expected: 'b' },
  plan: 'plan',
  patchset: 'p',
  summary: 's',
};
const idle = toSnapshot(newWorld().state);
const hunks = ['h1', 'h2'].map((id) => ({ id, header: '@@ -1 +1 @@' }));
const snapshot = {
  ...idle,
  patchsets: [
    { id: 'p', status: 'proposed', updatedAt: '', changes: [{ path: 'a', changeType: 'modify', hunks }] },
  ],
  reviews: [{ patchset: 'p', path: 'a', hunk: 'h2', verdict: 'reject' }],
} as unknown as typeof idle;

t.test('the question on a held change describes each answer and counts the rejected hunks', async (t) => {
  const { subject: _, ...question } = heldQuestion(review);
  const asked = { ...question, id: 'q', status: 'pending' as const, options: [], requestedAt: '' };
  const drawn = (of: typeof idle) =>
    drawCard(openCard(asked, 0, false), asked, of, { rows: 12, columns: 80 }).map(textOf);
  t.match(drawn(snapshot), [
    '? What goes on to main?  1/2 rejected',
    '› 1  Keep  `main` goes on to this commit',
    '  2  Take out what is rejected  what is left is evaluated and sealed again, and goes on to `main`',
    '  3  Discard  nothing of it is committed',
  ]);
  t.match(drawn({ ...snapshot, reviews: [] })[0], /0\/2 rejected$/);
  t.match(drawn(snapshot).at(-1), / · \/diff shows it \(\/reject N WHY, \/keep N\)$/);
  t.equal(drawn(idle)[0], '? What goes on to main?', 'of a change that is not shown nothing is counted');
});

t.test('an approval question shows the subject or command beside its answers', async (t) => {
  const drawn = (metadata: Asked['metadata']): string => {
    const asked = { ...question, title: 'Change files', metadata } as Asked;
    const [head = []] = drawCard(openCard(asked, 0, false), asked, idle, { rows: 22, columns: 80 });
    return textOf(head);
  };
  const question: Asked = {
    id: 'q',
    kind: 'approval',
    status: 'pending',
    metadata: {},
    options: optionsOf.approval.map(([id, label]) => ({ id, label })),
    requestedAt: '',
  };
  const subject = 'workspace.fs write src/price.js';
  t.equal(drawn({ subject }), `? Change files  ${subject}`);
  t.equal(drawn({ command: 'npm test' }), '? Change files  $ npm test');
  const commandLines = ['echo a', 'rm -rf b'];
  const many = drawn({ command: commandLines.join('\n'), commandLines });
  t.equal(many, '? Change files  first of 2 lines  $ echo a', 'and one line does not pass for all of them');
});

t.test('the status line shows the stop key during a turn to the controlling screen only', async (t) => {
  const line = (status: typeof idle.status, columns: number, kind = 'tui') => {
    const busy = { ...idle, status, controller: { ...idle.controller, kind } } as typeof idle;
    return textOf(statusLine(statusItems(busy, { stop: 'Esc' }), columns, (text) => text.length));
  };
  t.match(line('thinking', 200), /^thinking · Esc stops · .*you steer/);
  t.match(line('executing_tool', 40), /^working · Esc stops/);
  t.notMatch(line('executing_tool', 40), /you steer/);
  for (const status of ['idle', 'awaiting_interaction', 'completed', 'error'] as const)
    t.notMatch(line(status, 200), /Esc/, 'nothing works, or what is asked has its own keys');
  t.notMatch(line('thinking', 200, 'browser'), /Esc/, 'it is for who steers');
});

t.test('the status line shows a held change while no question is open', async (t) => {
  const texts = (of: typeof idle) => statusItems(of, {}).map(({ text }) => text);
  const { runId, commit, branch, patchset } = review;
  const held = { ...idle, held: { runId, commit, branch, target: 'refs/heads/main', patchset } };
  t.ok(texts(held).includes('a change is held: /review'));
  t.notOk(
    texts({ ...held, status: 'awaiting_interaction' })
      .join()
      .includes('/review'),
  );
  t.notOk(texts(idle).join().includes('/review'));
});
