import t from 'tap';
import { Tally } from '../../../gates/reports/tally.ts';

t.test('counts and contradictions of a part are added to the whole', async (t) => {
  const part = new Tally();
  part.pass('a', 2);
  part.fail('b', 'no', 3);
  part.skip('c', 1);
  part.addEmptyFile('d.js');
  part.contradict('error', 'it says 4 and holds 3');
  const whole = new Tally();
  whole.pass('x', 1);
  whole.addDuration(1);
  whole.add(part, { parent: 'suite' });
  t.match(whole.toReport(), {
    passed: 2,
    failed: 1,
    skipped: 1,
    durationMs: 8,
    failures: [{ name: 'suite > b', message: 'no' }],
    skippedTests: ['suite > c'],
    emptyFiles: ['d.js'],
    contradictions: [{ severity: 'error', message: 'it says 4 and holds 3' }],
  });
});

t.test('forgiven failures count as skipped', async (t) => {
  const part = new Tally();
  part.fail('b', 'no');
  const whole = new Tally();
  whole.add(part, { forgiven: true });
  t.match(whole.toReport(), { failed: 0, skipped: 1, failures: [], skippedTests: ['b'] });
});
