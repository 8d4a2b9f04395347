/*
 * `npm run test:mutants -- [--seed N] [--count N] [--only PATH]… [--also GLOB]… [--budget SECONDS] [--lanes N]
 * [--map FILE] [--as-mapped] [--done FILE]… [--all] [--quick-first]`: breaks what judges, proves and runs (and what
 * `--also` names) in one small way after the other (scripts/mutants/), each in a copy of the tree, and runs the tests
 * that execute the broken line, the likeliest and quickest first, until one fails. Which these are says the map of
 * coverage, which is made or brought up to date first (`--as-mapped` takes it as it is). What is unnoticed when the
 * budget is spent has a reason in scripts/mutants/survivors/, or the exit code is 1; `--all` asks those again.
 * `--done` is what an interrupted run printed, which counts; `--quick-first` begins with mutants of which a quick test
 * is asked first.
 */
import { globSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { seededRandom } from '../test/chance/seeded-random.ts';
import { collectCoverage } from './coverage-map/collect-coverage.ts';
import { digestOf, readCoverageMap, usualPlace } from './coverage-map/coverage-map.ts';
import { judgeMutant, type Trust } from './mutants/judge-mutant.ts';
import { describeMutant, type Mutant } from './mutants/mutant.ts';
import { mutateSource } from './mutants/mutate-source.ts';
import { sampleEvenly } from './mutants/sample-evenly.ts';
import { survivors } from './mutants/survivors.ts';
import { importsOf, readTestFiles } from './mutants/test-files.ts';
import { type LineTest, testsOfLine } from './mutants/tests-of-line.ts';
import { makeBrokenTree, root } from './removal/broken-tree.ts';

/** What judges, proves and runs. */
const broken = ['gates/**/*.ts', 'attest/**/*.ts', 'engine/run/**/*.ts'];

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '20261122' },
    count: { type: 'string', default: '300' },
    only: { type: 'string', multiple: true, default: [] },
    also: { type: 'string', multiple: true, default: [] },
    budget: { type: 'string', default: '120' },
    lanes: { type: 'string', default: '2' },
    map: { type: 'string', default: usualPlace },
    'as-mapped': { type: 'boolean', default: false },
    done: { type: 'string', multiple: true, default: [] },
    all: { type: 'boolean', default: false },
    'quick-first': { type: 'boolean', default: false },
  },
});
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const lanes = Number(values.lanes);
const map = values['as-mapped']
  ? readCoverageMap(values.map)
  : await collectCoverage({ path: values.map, lanes, keep: 'all', print });
const texts = new Map(
  globSync([...broken, ...values.also], { cwd: root })
    .filter((path) => !/\.gen\.|\.d\.ts$/.test(path) && isWanted(path))
    .sort()
    .map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]),
);
const files = readTestFiles(root);
const imported = new Map([...texts].map(([path, text]) => [path, importsOf(path, text)]));
const mutants: Mutant[] = [];
for (const [file, text] of texts) mutants.push(...(await mutateSource(file, text)));
const sample = sampleEvenly(texts, mutants, Number(values.count), Number(values.seed));
print(
  `${sample.length} of ${mutants.length} mutants in ${texts.size} files, ${new Set(sample.map(({ file }) => file)).size} files drawn, seed ${values.seed}`,
);

const done = new Map(
  values.done
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .flatMap((text) => {
      const [, word, where] =
        /^(noticed|SURVIVED) *[\d.]+ s {2}(.*?)(?: {2}by .*| {2}\(\d+ of .*)$/.exec(text) ?? [];
      return word === undefined || where === undefined ? [] : [[where, { word, text }] as const];
    }),
);
const counts = { noticed: 0, known: 0, unknown: 0 };
const trust: Trust = new Map();
// In no order, unless it is asked for: what an interrupted run comes to is the figure of a smaller sample.
const random = seededRandom(Number(values.seed));
const queue = sample
  .map((mutant) => ({ mutant, key: random() }))
  .sort((a, b) => a.key - b.key)
  .map(({ mutant }) => mutant);
if (values['quick-first']) {
  const seconds = new Map(queue.map((mutant) => [mutant, firstSeconds(mutant)]));
  queue.sort((a, b) => (seconds.get(a) ?? 0) - (seconds.get(b) ?? 0));
}
await Promise.all(Array.from({ length: lanes }, work));
const total = counts.noticed + counts.known + counts.unknown;
const share = (part: number, of: number): string => (of === 0 ? '0' : ((100 * part) / of).toFixed(1));
const distrusted = [...trust].flatMap(([test, isTrusted]) => (isTrusted ? [] : [test]));
if (distrusted.length > 0) print(`not asked, for they fail as they stand: ${distrusted.join(' ')}`);
print(
  `${total} mutants, ${counts.noticed} noticed (${share(counts.noticed, total)} %), ${counts.known} known to survive, ${counts.unknown} unnoticed without a reason`,
);
process.exitCode = counts.unknown > 0 || total === 0 ? 1 : 0;

function isWanted(path: string): boolean {
  return values.only.length === 0 || values.only.some((only) => path === only || path.startsWith(only));
}

async function work(): Promise<void> {
  const tree = makeBrokenTree();
  try {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) await judge(tree, mutant);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function testsOfMutant({ file, line }: Mutant, text: string): readonly LineTest[] {
  const lines = text.split('\n').slice(Math.max(0, line - 3), line + 2);
  const importers = [...imported].flatMap(([path, imports]) => (imports.includes(file) ? [path] : []));
  return testsOfLine(map, { file, line, around: lines.join('\n'), digest: digestOf(text), importers }, files);
}

function firstSeconds(mutant: Mutant): number {
  return testsOfMutant(mutant, texts.get(mutant.file) ?? '')[0]?.seconds ?? 0;
}

async function judge(tree: string, mutant: Mutant): Promise<void> {
  const text = texts.get(mutant.file) ?? '';
  const { line, change } = describeMutant(text, mutant);
  const where = `${mutant.file}:${mutant.line}  ${mutant.operator}: ${change}`.slice(0, 200);
  const known = survivors.find(
    (one) => one.file === mutant.file && one.line === line && one.change === change,
  );
  if (known !== undefined && !values.all) {
    counts.known += 1;
    print(`known            ${where}  (${known.reason})`);
    return;
  }
  const before = done.get(where);
  if (before !== undefined) {
    counts[before.word === 'noticed' ? 'noticed' : known === undefined ? 'unknown' : 'known'] += 1;
    print(before.text);
    return;
  }
  const tests = testsOfMutant(mutant, text);
  const { noticed, asked, seconds } = await judgeMutant(tree, mutant, tests, trust, Number(values.budget));
  const took = `${seconds.toFixed(1).padStart(6)} s`;
  if (noticed !== undefined) {
    counts.noticed += 1;
    print(`noticed ${took}  ${where}  by ${noticed.test}: ${noticed.failed}`);
  } else {
    counts[known === undefined ? 'unknown' : 'known'] += 1;
    print(`SURVIVED${took}  ${where}  (${asked} of ${tests.length} files of tests)\n           ${line}`);
  }
}
