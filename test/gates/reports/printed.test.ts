import t from 'tap';
import { readPrinted } from '../../../gates/reports/printed.ts';

/** Output, then passed, failed and skipped tests, and the names that it has. */
const outputs: Readonly<Record<string, readonly [text: string, counts: string, ...names: string[]]>> = {
  'node --test': [
    '✔ ten percent (4.6ms)\n▶ group\n  ✖ inner (5 of 6) (5.8ms)\n  ﹣ later (0.2ms) # why\nℹ tests 3\nℹ suites 1\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n\n✖ failing tests:\n\n✖ inner (5 of 6) (5.8ms)\n',
    '1 1 1',
    'ten percent',
    'inner (5 of 6)',
    'later',
  ],
  mocha: [
    '  fee\n    ✔ ten percent\n    1) bad\n\n  1 passing (3ms)\n  2 pending\n  1 failing\n',
    '1 1 2',
    'ten percent',
  ],
  jest: [
    'PASS ./a.test.js\n  ✓ ten (2 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       1 skipped, 5 passed, 6 total\n',
    '5 0 1',
    'ten',
  ],
  vitest: ['\n Test Files  1 failed (1)\n      Tests  1 failed | 4 passed | 1 skipped (6)\n', '4 1 1'],
  ava: ['  ✔ a\n  ─\n\n  5 tests passed\n', '5 0 0', 'a'],
  pytest: ['....\n======== 1 failed, 5 passed, 2 skipped in 0.12s ========\n', '5 1 2'],
  'pytest -v': [
    'tests/test_a.py::test_x[1-2] PASSED   [ 50%]\ntests/test_a.py::test_y FAILED [100%]\n===== 1 failed, 1 passed in 0.12s =====\n',
    '1 1 0',
    'tests/test_a.py::test_x[1-2]',
    'tests/test_a.py::test_y',
  ],
  unittest: ['.Fs\nRan 3 tests in 0.015s\n\nFAILED (failures=1, skipped=1)\n', '1 1 1'],
  'unittest, expected failures': ['Ran 4 tests in 0.1s\n\nOK (skipped=1, expected failures=1)\n', '2 0 2'],
  'unittest, an unexpected success': ['Ran 2 tests in 0.1s\n\nFAILED (unexpected successes=1)\n', '1 1 0'],
  cargo: [
    'test a::b ... ok\ntest c ... ignored\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n',
    '1 0 1',
    'a::b',
    'c',
  ],
  'go test': [
    'ok  \texample.com/a\t0.012s\nFAIL\texample.com/b\t0.1s\n',
    '1 1 0',
    'example.com/a',
    'example.com/b',
  ],
  rspec: ['..\n5 examples, 1 failure, 2 pending\n', '2 1 2'],
  minitest: ['5 runs, 8 assertions, 1 failures, 0 errors, 1 skips\n', '3 1 1'],
  phpunit: ['Tests: 5, Assertions: 8, Failures: 1, Skipped: 1.\n', '3 1 1'],
  'phpunit, all well': ['OK (5 tests, 8 assertions)\n', '5 0 0'],
  dotnet: [
    'Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 3 ms\n',
    '5 0 1',
  ],
  mvn: [
    '[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1\n',
    '4 0 1',
  ],
  ctest: [
    '1/2 Test #1: a ............   Passed    0.00 sec\n2/2 Test #2: b ...........***Failed  0.1 sec\n\n50% tests passed, 1 tests failed out of 2\n',
    '1 1 0',
    'a',
    'b',
  ],
  swift: ['Executed 5 tests, with 1 failure (0 unexpected) in 0.001 (0.002) seconds\n', '4 1 0'],
  deno: ['ok | 5 passed | 0 failed (12ms)\n', '5 0 0'],
  bun: [' 5 pass\n 1 fail\n', '5 1 0'],
};

t.test('tests that runners print for people are counted, and named where they name them', async (t) => {
  for (const [runner, [text, counts, ...names]] of Object.entries(outputs)) {
    const read = readPrinted(Buffer.from(text));
    t.equal(`${read?.passed} ${read?.failed} ${read?.skipped}`, counts, runner);
    t.strictSame([...(read?.names ?? [])], names, runner);
  }
});

t.test('other output is no report', async (t) => {
  for (const text of ['✔ built in 3s\nok\n5 passed\n', '✖ 3 problems (3 errors, 0 warnings)\n', '', '\0'])
    t.equal(readPrinted(Buffer.from(text)), undefined, JSON.stringify(text));
});

t.test('vitest names slow tests by chance: only files and failed tests count by name', async (t) => {
  const names = (lines: readonly string[]) => {
    const summary = [
      '',
      ' Test Files  1 failed | 1 passed (2)',
      '      Tests  1 failed | 25 passed (26)',
      '',
    ];
    const report = readPrinted(Buffer.from([...lines, ...summary].join('\n')));
    return { names: [...(report?.names ?? [])], passed: report?.passed };
  };
  const files = [
    ' ✓ test/a.test.ts (24 tests | 2 skipped) 463ms',
    ' ❯ test/b.test.ts (2 tests | 1 failed) 9ms',
  ];
  const fault = '   × b > adds 4ms';
  const expected = { names: ['test/a.test.ts', 'b > adds'], passed: 25 };
  t.strictSame(names([...files, fault]), expected);
  t.strictSame(names([files[0] ?? '', '   ✓ a > is slow 405ms', files[1] ?? '', fault]), expected);
});
