import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findBaseline } from '../../scripts/compatibility/baseline.ts';
import { compareVersions } from '../../scripts/compatibility/compare.ts';
import { corpora } from '../../scripts/compatibility/corpora.ts';
import { explain, readChanges } from '../../scripts/compatibility/explain.ts';
import { render } from '../../scripts/compatibility/render.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { packPackage } from '../doors/packed-package.ts';
import { long } from '../rooms/long.ts';

const found = findBaseline();
const baseline = 'missing' in found ? '' : found.packageDirectory;
const options = { timeout: 7_200_000, skip: 'missing' in found ? found.missing : false };
const names = corpora.map(({ name }) => name);

long(
  'the working tree gives the same results as the baseline, except for listed changes',
  options,
  async (t) => {
    const changes = readChanges();
    const comparison = await compareVersions({
      baseline,
      candidate: packPackage(),
      corpora: [],
      seed: toldSeed(t),
      isExplained: (one) => explain([one], changes, names).unexplained.length === 0,
      // A room in which nothing is asserted for minutes counts as late.
      onProgress: (text) => t.pass(text),
    });
    const explained = explain(comparison.found, changes, names);
    t.comment(render(comparison, explained));
    t.strictSame(explained.unexplained, [], 'differences without an entry in changes.json');
    t.strictSame(explained.unneeded, [], 'entries of changes.json that no difference needs');
    t.strictSame(comparison.faults, [], 'portions that could not be run');
    for (const corpus of names) t.ok((comparison.counts.get(corpus) ?? 0) >= 20, `${corpus} was run`);
  },
);

long('a changed rule message is reported for each case', options, async (t) => {
  const broken = join(t.testdir(), 'package');
  cpSync(baseline, broken, { recursive: true });
  symlinkSync(join(dirname(baseline), 'node_modules'), join(dirname(broken), 'node_modules'));
  const said = 'the patch changes test files without adding a test case';
  const changed = readdirSync(join(broken, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .map((path) => join(broken, 'dist', path))
    .filter((path) => readFileSync(path, 'utf8').includes(said));
  t.ok(changed.length > 0, 'the baseline has the message');
  for (const path of changed)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(said, 'no test is new'));
  const comparison = await compareVersions({
    baseline,
    candidate: broken,
    corpora: ['new-tests'],
    seed: toldSeed(t),
    onProgress: (text) => t.pass(text),
  });
  const places = new Set(comparison.found.map(({ path }) => path));
  t.ok(comparison.found.length > 100, `${comparison.found.length} differences`);
  t.strictSame([...places], ['/findings/0/message']);
  t.match(render(comparison, explain(comparison.found, [], names)), /new: "[^"]*no test is new"/);
});
