import t from 'tap';
import { retriesIn } from '../../../engine/record/write-record.ts';
import { parseRetries } from '../../../store/record/summaries.ts';

const retry = { failed: 'candidate-1', tasks: ['task-1'], next: 'retry', reason: 'why', places: [] };
const bytes = (more: object): Buffer =>
  Buffer.from(JSON.stringify({ schema: 'urn:writ:retries:v1', count: 1, first: [retry], ...more }));

t.test('malformed retries are refused with their path', (t) => {
  t.match(parseRetries(bytes({})), { count: 1 });
  for (const more of [
    { first: [{ ...retry, next: 'stop' }] },
    { first: [{ ...retry, places: [{ rule: 'sast' }] }] },
    { first: Array.from({ length: 101 }, () => retry) },
    { count: -1 },
    { more: true },
  ])
    t.throws(() => parseRetries(bytes(more)), { code: 'OBJECT_CORRUPT', detail: { path: 'retries.json' } });
  t.end();
});

t.test('all of a thousand retries are counted and the first hundred are listed by name', (t) => {
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const made = Array.from({ length: 1000 }, (_, index) => {
    const name = `task-${index + 1}/revision-1/attempt-1`;
    const path = 'src/a';
    const patchFindings = Array.from({ length: 50 }, () => ({ rule: 'sast', severity: 'error', path }));
    return [
      [`${name}/decision-record.json`, json({ next: 'retry', rationale: 'x'.repeat(10_000) })],
      [`${name}/decision-input.json`, json({ task: { id: `task-${index + 1}` }, patchFindings, stages: [] })],
    ] as [string, Buffer][];
  }).flat();
  const found = retriesIn(made.toReversed());
  t.equal(found?.count, 1000);
  t.strictSame(
    found?.first.map(({ tasks }) => tasks[0]),
    Array.from({ length: 100 }, (_, index) => `task-${index + 1}`),
  );
  t.match(found?.first[0], { reason: /^x{2000}$/, places: { length: 5 } });
  t.match(parseRetries(json(found)), { count: 1000 });
  t.equal(retriesIn([]), undefined);
  t.end();
});
