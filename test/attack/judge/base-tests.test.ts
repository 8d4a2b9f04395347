import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

const tests = [
  "import test from 'node:test';",
  "import { billed } from '../e2e/billed.js';",
  "import { price } from '../src/price.js';",
  '',
  "test('seven are seven times as much', () => {",
  '  billed(price(7, 100), 700);',
  '});',
  '',
].join('\n');
const helper = (body: string): string => `export const billed = (got, want) => {\n${body}};\n`;
const billed = helper('  if (got !== want) throw new Error(got);\n');
const ids = [...Array(20).keys()].values();

type Files = Readonly<Record<string, string>>;
function write(sample: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(sample.root, path)), { recursive: true });
    writeFileSync(join(sample.root, path), text);
  }
}
async function attempt(sample: Sample, files: Files): Promise<RunView> {
  const unit = {
    id: 'unit',
    kind: 'testSuite',
    command: 'node --test --test-reporter=tap',
    timeoutSeconds: 60,
    required: true,
    artifactsProduced: ['test-log'],
  };
  const spec: Json = {
    metadata: { id: `base-tests-${ids.next().value}` },
    intent: { changeType: 'feature', inScope: ['src/', 'test/', 'e2e/'] },
    acceptance: { verificationPlan: { fastChecks: [unit] } },
  };
  write(sample, files);
  sample.git('add', '--all');
  const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  return sample.run({ source: { kind: 'patch', bytes } }, spec);
}
const told = ({ stages }: RunView): readonly string[] =>
  (stages[0]?.checks[0]?.findings ?? [])
    .filter(({ rule }) => rule === 'tests-kept')
    .map(({ severity, detail }) => `${severity} ${detail?.code} ${detail?.tests}`);

long('tests of the base run against the candidate when the change rewrites them', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const dearer = (more: number): string =>
    `export const price = (count, cents) => count * cents + (count === 7 ? ${more} : 0);\n`;
  write(sample, {
    'src/price.js': dearer(0),
    'test/more.test.js': tests,
    'test/price.test.js': "import test from 'node:test';\ntest('nothing', () => {});\n",
    'e2e/billed.js': billed,
  });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'More');
  const name = 'seven are seven times as much';

  const gutted = await attempt(sample, { 'src/price.js': dearer(70), 'e2e/billed.js': helper('') });
  t.equal(gutted.decision?.type, 'abandon', 'a helper that judges no more hides what the change breaks');
  t.same(told(gutted), [`error EXPECTATION_LOST ${name}`]);
  t.match(gutted.stages[0]?.checks[0], {
    exitCode: 0,
    withBaseTests: { status: 'failed', exitCode: 1, laid: [{ path: 'e2e/billed.js' }] },
  });

  const feature = { 'src/price.js': dearer(70), 'test/more.test.js': tests.replace('700', '770') };
  const honest = await attempt(sample, feature);
  t.equal(honest.decision?.type, 'commit', honest.decision?.rationale ?? '');
  t.same(told(honest), [`warning EXPECTATION_CHANGED ${name}`]);
  const log = honest.artifacts.find(({ name: called }) => called === 'base-tests-log');
  t.equal(log?.sha256, honest.stages[0]?.checks[0]?.withBaseTests?.log);

  const moved = await attempt(sample, {
    'src/price.js': dearer(70).replace('price', 'priceOf'),
    'test/more.test.js': feature['test/more.test.js']
      .replaceAll('price', 'priceOf')
      .replace('priceOf.js', 'price.js'),
  });
  t.same(told(moved), [`note BASE_TESTS_NOT_RUN ${name}`], 'what the base calls is gone: that is said');
});
