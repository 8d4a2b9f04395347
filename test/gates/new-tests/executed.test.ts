import t from 'tap';
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { CheckRecord } from '../../../core/interfaces/stage.ts';
import { ranAmong } from '../../../gates/new-tests/new-cases.ts';
import { executed } from '../../../gates/rules/new-tests.ts';
import { executedCheck, outcome } from '../executed-check.ts';

const tests = (names: readonly string[], skipped: readonly string[] = []) => ({
  names: new Set(names),
  skipped,
});
const js = (name: string) => ({ name, language: 'javascript' });

t.test('a test case counts as run if an executed, unskipped test contains its name', async (t) => {
  const cases = [js('two cost twice'), js('three cost thrice')];
  t.equal(ranAmong(cases, tests(['one', 'prices > three cost thrice'])), 'ran');
  t.equal(
    ranAmong([{ name: 'test_two_cost', language: 'python' }], tests(['t.py::test_two_cost[1]'])),
    'ran',
  );
  t.equal(ranAmong(cases, tests(['one', 'two'])), 'did-not-run');
  t.equal(ranAmong(cases, tests(['two cost twice', 'one'], ['two cost twice'])), 'did-not-run');
  t.equal(ranAmong([js('a'.repeat(100))], tests(['a'.repeat(80)])), 'ran', 'reports cut names');
});

t.test('a test case is unknown if its name cannot be searched for', async (t) => {
  t.equal(ranAmong([js('one')], undefined), 'unknown');
  t.equal(ranAmong([js('one')], tests([])), 'unknown');
  for (const name of ['', 'is %i', 'is $name', 'is #1', 'is {n}', "it\\'s", '—'])
    t.equal(ranAmong([js('one'), js(name)], tests(['two'])), 'unknown', name);
});

interface Executed {
  /** Cases that the text shows. */
  readonly written?: readonly object[];
  readonly ran: CheckOutcome;
  readonly base?: CheckOutcome;
  /** The candidate's tests over the base's product, and the base's tests over the candidate's. */
  readonly overBase?: CheckOutcome;
  readonly overCandidate?: CheckOutcome;
  readonly status?: 'passed' | 'failed';
}

const unread: CheckOutcome = { findings: [], reports: [] };

async function judge({ written = [], ran, base, overBase, overCandidate, status = 'passed' }: Executed) {
  const code = written.length > 0 ? {} : { code: 'NEW_TEST_UNSEEN' };
  const says = [
    { rule: 'new-tests', severity: 'note' as const, message: '', detail: { ...code, cases: written } },
  ];
  const { check, asked } = executedCheck({
    files: {
      'src/a.js': { base: 'a\n', candidate: 'b\n' },
      'test/a.test.js': { base: 'a\n', candidate: 'a\nb\n' },
    },
    changeType: 'bugfix',
    ran,
    reruns: {
      ...(base ? { base } : {}),
      ...(overBase ? { 'base+candidate': overBase } : {}),
      ...(overCandidate ? { 'candidate+base': overCandidate } : {}),
    },
    says,
  });
  const { note } = status === 'failed' ? {} : await executed.judgeCheck(check);
  const record = { id: 'unit', kind: 'testSuite', status } as unknown as CheckRecord;
  const findings = await executed.judgeStage?.({
    ...check,
    checks: [record],
    notes: new Map(note === undefined ? [] : [['unit', note]]),
  });
  return {
    codes: (findings ?? []).map(({ severity, detail }) => `${severity} ${detail?.code}`),
    trees: asked.map(({ tree, tests: laid = [] }) => `${tree} ${laid.join(' ')}`.trim()),
  };
}

t.test('a new test that passes, and fails over the old product, shows a fix', async (t) => {
  const seen = await judge({
    written: [js('two')],
    ran: outcome(['one', 'two']),
    overBase: outcome(['one', 'two'], { failed: ['two'] }),
  });
  t.same(seen, { codes: [], trees: ['base test/a.test.js'] });
  const unseen = { ran: outcome(['one', 'two']), base: outcome(['one']) };
  t.same((await judge({ ...unseen, overBase: outcome(['one', 'two'], { failed: ['two'] }) })).codes, []);
  t.same(
    (await judge({ ...unseen, overBase: outcome(['one', 'test/a.test.js'], { failed: ['test/a.test.js'] }) }))
      .codes,
    [],
    'it cannot be loaded',
  );
  t.same((await judge({ ...unseen, overBase: unread })).codes, [], 'it cannot be compiled');
  t.same(
    (
      await judge({
        written: [{ name: '[1, 2],', language: 'javascript', isRow: true }],
        ran: outcome(['cases']),
        overBase: outcome(['cases'], { failed: ['cases'] }),
      })
    ).codes,
    [],
    'a row of an old case',
  );
});

t.test('a fix whose tests all pass without it gets a warning', async (t) => {
  const both = outcome(['one', 'two']);
  t.same((await judge({ written: [js('two')], ran: both, overBase: both })).codes, [
    'warning NEW_TEST_PASSES_AT_BASE',
  ]);
});

t.test('a fix without a new test is refused', async (t) => {
  const [one, missing] = [outcome(['one']), ['error NEW_TEST_MISSING']];
  t.same((await judge({ ran: one, base: one, overBase: one })).codes, missing);
  const edited = { ran: one, base: one, overBase: outcome(['one'], { failed: ['one'] }) };
  t.same(
    (await judge({ ...edited, overCandidate: outcome(['one'], { failed: ['one'] }) })).codes,
    missing,
    'another expectation',
  );
  t.same(
    (await judge({ ...edited, overCandidate: one })).codes,
    ['warning NEW_TEST_EXTENDS'],
    'what the test asserted so far still holds',
  );
  const renamed = { ran: outcome(['uno']), base: one, overBase: outcome(['uno'], { failed: ['uno'] }) };
  t.same((await judge({ ...renamed, overCandidate: outcome(['one'], { failed: ['one'] }) })).codes, missing);
});

t.test('a fix that only an edited test shows is refused, and the finding says so', async (t) => {
  const seen = await judge({
    written: [js('two')],
    ran: outcome(['one', 'two']),
    base: outcome(['one']),
    overBase: outcome(['one', 'two'], { failed: ['one'] }),
    overCandidate: outcome(['one'], { failed: ['one'] }),
  });
  t.same(seen.codes, ['error NEW_TEST_NOT_SHOWN']);
});

t.test('a new test that no suite runs is refused by name', async (t) => {
  const one = outcome(['one']);
  t.same((await judge({ written: [js('two')], ran: one, overBase: one })).codes, ['error NEW_TEST_NOT_RUN']);
  t.same((await judge({ written: [{ name: 'two', language: 'java' }], ran: one, overBase: one })).codes, [
    'warning NEW_TEST_NOT_RUN',
  ]);
});

t.test('the text decides if no suite says which tests ran', async (t) => {
  t.same((await judge({ written: [js('two')], ran: unread })).codes, []);
  t.same((await judge({ ran: unread })).codes, ['error NEW_TEST_MISSING']);
  t.same((await judge({ ran: unread, status: 'failed' })).codes, ['error NEW_TEST_MISSING']);
});

t.test('data that tests read goes with the tests, in both directions', async (t) => {
  const { check, asked } = executedCheck({
    files: {
      'src/a.js': { base: 'a\n', candidate: 'b\n' },
      'data/cases.json': { base: '[1]\n', candidate: '[1, 2]\n' },
    },
    changeType: 'bugfix',
    ran: outcome(['rows']),
    reruns: {
      base: outcome(['rows']),
      'base+candidate': outcome(['rows'], { failed: ['rows'] }),
      'candidate+base': outcome(['rows']),
    },
    more: { reads: ['data/cases.json'] },
  });
  const { note } = await executed.judgeCheck(check);
  t.match(note, { verdict: 'extended', tests: ['rows'] });
  t.same(
    asked.filter(({ verificationInputs = [] }) => verificationInputs.length > 0).map(({ tree }) => tree),
    ['base', 'candidate'],
  );
});
