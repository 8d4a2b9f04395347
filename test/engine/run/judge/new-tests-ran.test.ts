import t from 'tap';
import type { CheckRecord } from '../../../../core/contract/stage.ts';
import { newTestFindings } from '../../../../engine/run/judge/new-tests-ran.ts';
import { ranAmong } from '../../../../engine/run/judge/ran-among.ts';
import type { Attempt } from '../../../../engine/run/state/attempt.ts';

const executed = (names: readonly string[], skipped: readonly string[] = []) => ({
  names: new Set(names),
  skipped,
});
const js = (name: string) => ({ name, language: 'javascript' });

t.test('a test case counts as run if an executed, unskipped test contains its name', async (t) => {
  const cases = [js('two cost twice'), js('three cost thrice')];
  t.equal(ranAmong(cases, executed(['one', 'prices > three cost thrice'])), 'ran');
  t.equal(
    ranAmong([{ name: 'test_two_cost', language: 'python' }], executed(['t.py::test_two_cost[1]'])),
    'ran',
  );
  t.equal(ranAmong(cases, executed(['one', 'two'])), 'did-not-run');
  t.equal(ranAmong(cases, executed(['two cost twice', 'one'], ['two cost twice'])), 'did-not-run');
  t.equal(ranAmong([js('a'.repeat(100))], executed(['a'.repeat(80)])), 'ran', 'reports cut names');
});

t.test('a test case is unknown if its name cannot be searched for', async (t) => {
  t.equal(ranAmong([js('one')], undefined), 'unknown');
  t.equal(ranAmong([js('one')], executed([])), 'unknown');
  for (const name of ['', 'is %i', 'is $name', 'is #1', 'is {n}', "it\\'s", '—'])
    t.equal(ranAmong([js('one'), js(name)], executed(['two'])), 'unknown', name);
});

t.test('a stage is refused if every suite passed and none ran a new test case', async (t) => {
  const found = (
    answers: Readonly<Record<string, string>>,
    { language = 'javascript', status = 'passed', stage = 'fast' as const } = {},
  ) => {
    const steps = {
      ended: (step: string) => {
        const ran = answers[step.replace('new-tests/', '')];
        return ran === undefined ? undefined : { answer: { ran, cases: [{ name: 'one', language }] } };
      },
    };
    const checks = Object.keys(answers).map((id) => ({ id, kind: 'testSuite', status }));
    return newTestFindings(
      { means: { steps: steps as unknown as Attempt['means']['steps'] } },
      {
        stage,
        checks: checks as unknown as readonly CheckRecord[],
      },
    ).map(({ severity, detail }) => {
      t.strictSame(detail, { code: 'NEW_TEST_NOT_RUN', tests: ['one'] });
      return severity;
    });
  };
  t.strictSame(found({ unit: 'did-not-run' }), ['error']);
  t.strictSame(found({ unit: 'did-not-run', other: 'did-not-run' }), ['error']);
  t.strictSame(found({ unit: 'did-not-run', other: 'ran' }), []);
  t.strictSame(found({ unit: 'did-not-run', other: 'unknown' }), []);
  t.strictSame(found({ unit: 'did-not-run' }, { language: 'java' }), ['warning']);
  t.strictSame(found({ unit: 'did-not-run' }, { status: 'failed' }), [], 'it has a reason of its own');
  t.strictSame(found({}), [], 'no suite says what it ran');
});
