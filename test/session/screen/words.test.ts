import t from 'tap';
import { toAgo, toolWords, toSpan } from '../../../session/screen/words.ts';

t.test('a time span is rounded down to the second', async (t) => {
  const shown = [-5, 900, 59_999, 125_000, 3_840_000, 266_400_000].map(toSpan);
  t.strictSame(shown, ['0s', '0s', '59s', '2m 05s', '1h 04m', '3d 2h']);
});

t.test('`toAgo` formats the time since a moment', async (t) => {
  const now = Date.parse('2026-01-10T12:00:00Z');
  const ago = (minutes: number) => toAgo(now - minutes * 60_000, now);
  t.strictSame([-5, 0, 5, 90, 3000, 40_000].map(ago), [
    'just now',
    'just now',
    '5m ago',
    '1h ago',
    '2d ago',
    '27d ago',
  ]);
  t.equal(toAgo(Number.NaN, now), 'just now');
});

t.test('an exit code of a check on the old code is expected, and any other is a failure', async (t) => {
  const words = (came: string) =>
    toolWords('workspace.command', `execute npm test (done${came}`, 'completed');
  t.match(words(', exit code 1, 4 ms): expected on the old code'), {
    verb: '$',
    what: 'npm test',
    came: 'exit code 1, expected on the old code',
    isBad: false,
  });
  t.match(words(', 4 ms): on the old code'), { came: 'on the old code', isBad: false });
  t.match(words(', exit code 1, 4 ms)'), { came: 'exit code 1', isBad: true });
});
