import t from 'tap';
import type { FrameKind } from '../../../core/interfaces/privacy.ts';
import { openFrameWindow } from '../../../engine/context/admission.ts';

const frame = (kind: FrameKind, name = '') => ({
  kind,
  name,
  text: '',
  trustTier: 'repo' as const,
  tags: {},
});

t.test('evicts the oldest unprotected frame and keeps the seed, IntentAnalysis and Checkpoint', async (t) => {
  const window = openFrameWindow(4);
  for (const kind of [
    'Note',
    'StepSummary',
    'Checkpoint',
    'ToolResult',
    'IntentAnalysis',
    'CodeChange',
  ] as const)
    window.push(frame(kind));
  t.strictSame(
    window.frames().map(({ sequence, kind, protected: kept }) => [sequence, kind, kept]),
    [
      [1, 'Note', true],
      [3, 'Checkpoint', true],
      [5, 'IntentAnalysis', true],
      [6, 'CodeChange', false],
    ],
  );
  t.strictSame(
    window.evicted().map(({ sequence, kind }) => [sequence, kind]),
    [
      [2, 'StepSummary'],
      [4, 'ToolResult'],
    ],
  );
});

t.test(
  'protected frames stay beyond the limit, and an unprotected one is then evicted at once',
  async (t) => {
    const window = openFrameWindow(2);
    for (let count = 0; count < 5; count += 1) window.push(frame('Checkpoint'));
    window.push(frame('Note'));
    t.equal(window.size, 5);
    t.ok(window.frames().every(({ kind }) => kind === 'Checkpoint'));
    t.match(window.evicted(), [{ kind: 'Note' }]);
  },
);

t.test('a limit of 0 means no limit', async (t) => {
  const window = openFrameWindow(0);
  for (let count = 0; count < 1000; count += 1) window.push(frame('Note'));
  t.equal(window.size, 1000);
  t.strictSame(window.evicted(), []);
});

t.test('the window keeps the newest frames up to its limit, and only the seed at limit 1', async (t) => {
  for (const limit of [1, 128, 500, 0]) {
    const window = openFrameWindow(limit);
    for (let pushed = 0; pushed < 1000; pushed += 1) window.push(frame('Note'));
    t.equal(window.size, limit === 0 ? 1000 : limit);
    t.equal(window.frames().at(-1)?.sequence, limit === 1 ? 1 : 1000);
  }
});
