import t from 'tap';
import { until } from './until.ts';

t.test('until', async (t) => {
  t.test('resolves once the condition holds', async () => {
    let count = 0;
    await until(() => ++count > 3);
  });

  t.test('reports what it waited for and what it saw last', async (t) => {
    const waits = until(
      () => '',
      'the second line',
      () => 'line 1',
      0,
    );
    await t.rejects(waits, { message: "the second line did not come; seen last: '', progress: 'line 1'" });
  });

  t.test('names the condition itself if no words for it are given', async (t) => {
    const waits = until(() => 3 > 4, undefined, undefined, 0);
    await t.rejects(waits, { message: '`() => 3 > 4` did not come; seen last: false, progress: undefined' });
  });

  t.test('continues as long as the progress changes', async (t) => {
    let count = 0;
    await until(
      () => count > 20,
      'twenty changes',
      () => ++count,
      0,
    );
    t.ok(count > 20);
  });
});
