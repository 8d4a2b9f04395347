import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { strykerPlugins } from '../../scripts/mutation/ignore-prose.ts';
import {
  formatScore,
  listUndetected,
  type MutantStatus,
  type MutationReport,
  scoreOf,
} from '../../scripts/mutation/score.ts';
import { testToolPlace, testToolVersions } from '../../scripts/test-tools.ts';

const root = join(import.meta.dirname, '../..');

const mutants = (...statuses: MutantStatus[]) => ({
  mutants: statuses.map((status, n) => ({
    mutatorName: 'BooleanLiteral',
    replacement: `not\n  ${n}`,
    location: { start: { line: n + 1, column: 2 } },
    status,
  })),
});
const report: MutationReport = {
  files: {
    'a.ts': mutants('Killed', 'Killed', 'Timeout', 'Survived'),
    'b.ts': mutants('NoCoverage', 'Ignored', 'RuntimeError', 'CompileError', 'Killed'),
  },
};

t.test('computes and prints the mutation score of a module', async (t) => {
  t.test('the score is the share of detected mutants among the evaluated ones', async (t) => {
    t.equal(scoreOf(report, ['a.ts']).percent, 75, 'a mutant without an end is detected');
    t.equal(
      scoreOf(report, ['b.ts']).percent,
      50,
      'one without coverage is not; ignored ones and errors do not count',
    );
    t.equal(scoreOf(report).percent, (100 * 4) / 6);
  });
  t.test('the score is 100 when there are no mutants', async (t) => {
    t.equal(scoreOf(report, ['c.ts']).percent, 100);
  });
  t.test('a formatted score includes the count of each status', async (t) => {
    t.equal(
      formatScore(scoreOf(report)),
      '66.7 %: 3 killed, 1 timeouts, 1 survived, 1 without coverage (2 errors and 1 ignored do not count)',
    );
  });
  t.test('lists the undetected mutants of the selected files', async (t) => {
    t.strictSame(listUndetected(report, ['a.ts']), ['a.ts:4:2  BooleanLiteral → not 3']);
    t.strictSame(listUndetected(report, ['b.ts']), ['b.ts:1:2  BooleanLiteral → not 0  (no coverage)']);
  });
});

t.test('does not mutate strings of prose', async (t) => {
  const [plugin] = strykerPlugins;
  const string = (value: string) => plugin?.value.shouldIgnore({ node: { type: 'StringLiteral', value } });
  const template = (...raw: string[]) =>
    plugin?.value.shouldIgnore({
      node: { type: 'TemplateLiteral', quasis: raw.map((one) => ({ value: { raw: one } })) },
    });
  for (const text of ['no check ran', 'expected: a list', '`a` is missing', 'in (b)'])
    t.equal(string(text), 'prose', text);
  for (const text of ['', 'OBJECT_CORRUPT', 'src/a.ts', 'wait-for-approval', ' ', ', ', 'a:b'])
    t.equal(string(text), undefined, JSON.stringify(text));
  t.equal(template('stage ', ' has no records'), 'prose');
  t.equal(template('task ', ''), 'prose', 'a word before a value');
  t.equal(template('', '/patchset.json'), undefined);
  t.equal(plugin?.value.shouldIgnore({ node: { type: 'other' } }), undefined);
});

t.test('every tool in test/tools is pinned and locked to exact versions', async (t) => {
  for (const name of readdirSync(join(root, 'test/tools'))) {
    const lock = JSON.parse(readFileSync(join(root, 'test/tools', name, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dependencies?: object; resolved?: string; integrity?: string }>;
    };
    const versions = testToolVersions(name);
    t.strictSame(lock.packages['']?.dependencies, versions, `${name} is locked as it is pinned`);
    for (const version of Object.values(versions)) t.match(version, /^\d+\.\d+\.\d+[\w.-]*$/, name);
    for (const [path, { resolved, integrity }] of Object.entries(lock.packages))
      if (path !== '') t.ok(resolved === undefined && integrity !== undefined, `${name}: ${path}`);
    t.match(testToolPlace(name), new RegExp(`/writ/test-tools/${name}-[0-9a-f]{12}$`));
  }
});
