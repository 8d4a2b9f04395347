import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { LaidRun } from '../../../core/interfaces/stage.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

/** Fails where the price is wrong. */
const audit =
  "import { readFileSync } from 'node:fs';\nprocess.exit(readFileSync('src/price.js', 'utf8').includes('+ 1') ? 1 : 0);\n";
const check = (id: string, command: string): Json => ({
  id,
  kind: 'command',
  command,
  timeoutSeconds: 60,
  required: true,
});
const ids = [...Array(20).keys()].values();
const contract = (checks: readonly Json[]): Json => ({
  metadata: { id: `policy-judge-${ids.next().value}` },
  intent: { changeType: 'refactor', inScope: ['src/', 'test/', 'scripts/', 'package.json'] },
  acceptance: { verificationPlan: { fastChecks: checks } },
});
const product = { 'src/price.js': 'export const price = (count, cents) => count * cents + 1 + 0;\n' };
const honest = { 'src/price.js': 'export const price = (count, cents) => cents * count;\n' };

const tried = '. ./src/total.sh\ntest "$(total 2 100)" = 200\n';

type Files = Readonly<Record<string, string | null>>;
function write(sample: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(sample.root, path);
    rmSync(file, { force: true, recursive: true });
    if (text === null) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
async function attempt(sample: Sample, files: Files, spec: Json): Promise<RunView> {
  write(sample, files);
  sample.git('add', '--all', '--force');
  const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  return sample.run({ source: { kind: 'patch', bytes } }, spec);
}
const told = ({ stages }: RunView, at = 0): readonly string[] =>
  (stages[0]?.checks[at]?.findings ?? [])
    .filter(({ rule }) => rule === 'judge-changed')
    .map(({ severity, detail }) => `${severity} ${detail?.code}`);
const secondOf = ({ stages }: RunView, at = 0): LaidRun | undefined => stages[0]?.checks[at]?.atPolicy;

long('a check whose script changes without a review also runs as the policy commit has it', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  write(sample, {
    'scripts/audit.js': audit,
    'scripts/build.sh': 'mkdir -p dist && cp src/price.js dist/price.js\n',
    'scripts/look.sh': 'cat dist/price.js && ! grep -q "+ 1" dist/price.js\n',
    'src/total.sh': 'total() { echo $(( $1 * $2 )); }\n',
    'scripts/try.sh': tried,
    'scripts/kept/note.txt': 'kept\n',
    '.writ/config.toml': '[workspace]\ncarry = ["dist"]\n',
  });
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'An audit');
  const checks = [check('audit', 'node scripts/audit'), check('version', 'node --version')];

  await t.test('a check that the change silences fails by its version in the policy commit', async (t) => {
    const ways: Readonly<Record<string, Files>> = {
      'taken over by a name that wins': { 'scripts/audit': 'process.exit(0);\n' },
      'made a directory': { 'scripts/audit.js': null, 'scripts/audit/index.js': 'process.exit(0);\n' },
    };
    for (const [way, files] of Object.entries(ways)) {
      const view = await attempt(sample, { ...product, ...files }, contract(checks));
      t.equal(view.decision?.type, 'abandon', way);
      t.match(
        view.findings,
        [{ rule: 'judge-changed', severity: 'warning', detail: { judgedBy: 'policy' } }],
        way,
      );
      t.same(told(view), ['error POLICY_JUDGE_FAILS'], way);
      t.match(view.stages[0]?.checks[0], { exitCode: 0, status: 'failed' }, way);
      t.match(secondOf(view), { status: 'failed', exitCode: 1 }, way);
    }
  });

  await t.test('a change that passes both versions of a check is sealed with both results', async (t) => {
    const files = { ...honest, 'scripts/audit.js': `// Money.\n${audit}console.log('audited');\n` };
    const view = await attempt(sample, files, contract(checks));
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    t.same(told(view), ['note POLICY_JUDGE_PASSES']);
    t.same(told(view, 1), [], 'a check that judges by something else runs once');
    t.equal(secondOf(view, 1), undefined);
    const second = secondOf(view);
    t.match(second, { status: 'passed', exitCode: 0, laid: [{ path: 'scripts/audit.js' }] });
    const log = view.artifacts.find(({ name }) => name === 'policy-judge-log');
    t.equal(log?.sha256, second?.log);
    const { artifacts = [] } = view.stages[0]?.checks[0] ?? {};
    const madeBySecond = artifacts.find(({ name }) => name === 'policy-judge-log');
    t.equal(madeBySecond?.sha256, second?.log, 'among what the check made');
    t.ok(view.provenance?.bundle, 'verified with its replay before the branch moved');
  });

  await t.test(
    'files made by a silenced check do not reach the policy version of a later check',
    async (t) => {
      const two = [check('build', 'sh scripts/build.sh'), check('look', 'sh scripts/look.sh')];
      const files = {
        ...product,
        'scripts/build.sh': 'mkdir -p dist && echo "export const price = 1;" > dist/price.js\n',
      };
      const view = await attempt(sample, files, contract(two));
      t.equal(view.decision?.type, 'abandon');
      t.same([told(view), told(view, 1)], [['note POLICY_JUDGE_PASSES'], ['error POLICY_JUDGE_FAILS']]);
    },
  );

  await t.test('the policy version of a check runs against the product files of the candidate', async (t) => {
    const one = contract([check('try', 'sh scripts/try.sh')]);
    const silent = { 'scripts/try.sh': '. ./src/total.sh\necho fine\n' };
    const dearer = await attempt(
      sample,
      { ...silent, 'src/total.sh': 'total() { echo $(( $1 * $2 + 1 )); }\n' },
      one,
    );
    t.equal(dearer.decision?.type, 'abandon');
    t.same(told(dearer), ['error POLICY_JUDGE_FAILS']);
    t.match(secondOf(dearer), { status: 'failed', exitCode: 1, laid: [{ path: 'scripts/try.sh' }] });
    const swapped = { 'src/total.sh': 'total() { echo $(( $2 * $1 )); }\n' };
    const more = { 'scripts/try.sh': `${tried}test "$(total 3 100)" = 300\n` };
    const honest = await attempt(sample, { ...swapped, ...more }, one);
    t.equal(honest.decision?.type, 'commit', honest.decision?.rationale ?? '');
    t.same(told(honest), ['note POLICY_JUDGE_PASSES']);
  });

  await t.test('a repository can still require a review of changed check scripts', async (t) => {
    write(sample, { '.writ/config.toml': '[rules.judge-changed]\nreview = "required"\n' });
    sample.git('commit', '--quiet', '--all', '-m', 'Reviews');
    const files = { ...honest, 'scripts/audit.js': `// Money.\n${audit}` };
    const view = await attempt(sample, files, contract(checks));
    t.equal(view.decision?.type, 'abandon');
    t.match(view.findings, [{ rule: 'judge-changed', severity: 'error' }]);
  });
});
