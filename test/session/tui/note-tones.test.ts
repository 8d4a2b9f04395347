import t from 'tap';
import { entryLines } from '../../../session/tui/entry-lines.ts';

const at = '2026-01-01T00:00:00.000Z';

t.test('a failed verification is shown in the failure colour with its reason', async (t) => {
  const told = (title: string, content: string) =>
    entryLines(
      {
        id: 'n',
        kind: 'info_note',
        title,
        content,
        streaming: false,
        metadata: {},
        createdAt: at,
        updatedAt: at,
      },
      80,
    ).flat();
  const why = 'r: VERIFY_REFUTED: `manifest-complete` failed: mismatch: evidence/0001-unit.json';
  t.match(told('Not verified', why), [{ text: 'Not verified: ', tone: 'bad' }, { text: why }]);
  t.match(told('Verified', 'r'), [{ text: 'Verified: ', tone: 'good' }]);
});

t.test('a failed gate lists its failed checks', async (t) => {
  const lines = (gate: object) =>
    entryLines(
      {
        id: 'n',
        kind: 'info_note',
        title: 'Gate fast',
        content: '',
        streaming: false,
        metadata: { gate },
        createdAt: at,
        updatedAt: at,
      },
      80,
    ).map((line) => line.map(({ text }) => text).join(''));
  const gate = { stage: 'fast', status: 'failed', ran: 1, expected: 1 };
  t.strictSame(lines({ ...gate, failed: ['unit: a\u001b[31mb', 'and 2 more'] }), [
    '✗ gate fast failed  1 of 1 ran',
    '  ✗ unit: ab',
    '  ✗ and 2 more',
  ]);
  t.strictSame(lines({ ...gate, status: 'passed' }), ['✓ gate fast passed  1 of 1 ran']);
  t.strictSame(
    lines({ ...gate, status: 'skipped', ran: 0, expected: 0 }),
    ['· gate fast skipped  no check listed'],
    'and why one is skipped',
  );
});
