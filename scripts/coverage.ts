/*
 * `npm run coverage -- [--fresh] [--as-mapped] [--lanes N] [--map FILE]`: line coverage per room, from V8's own counts
 * over every process and thread that the tests start, each file of tests alone. What an earlier map says of tests whose
 * sources are all the same is not run again; `--fresh` runs everything, `--as-mapped` nothing. Exit 1 below a floor.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { root } from './coverage-map/broken-tree.ts';
import { codeLines } from './coverage-map/code-lines.ts';
import { collectCoverage, shippedSources } from './coverage-map/collect-coverage.ts';
import { digestOf, readCoverageMap, usualPlace } from './coverage-map/coverage-map.ts';

/** Rooms that must stay at or above this share of covered lines. */
const floors: Readonly<Record<string, number>> = { core: 95, engine: 95, gates: 95, attest: 95 };
/** Files of a room that are listed, those with most missing lines first. */
const maxListed = 12;

const { values } = parseArgs({
  options: {
    fresh: { type: 'boolean', default: false },
    'as-mapped': { type: 'boolean', default: false },
    lanes: { type: 'string', default: '2' },
    map: { type: 'string', default: usualPlace },
  },
});
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const { sources, tests } = values['as-mapped']
  ? readCoverageMap(values.map)
  : await collectCoverage({
      path: values.map,
      lanes: Number(values.lanes),
      fresh: values.fresh,
      print,
    });

const ran = new Map<string, Set<number>>();
for (const { lines } of Object.values(tests))
  for (const [source, numbers] of Object.entries(lines)) {
    const known = ran.get(source) ?? new Set();
    for (const number of numbers) known.add(number);
    ran.set(source, known);
  }
const files = shippedSources(root).map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }));
const changed = files.filter(({ path, text }) => ran.has(path) && sources[path] !== digestOf(text));
if (changed.length > 0)
  print(`changed since the map was made, and not counted: ${changed.map(({ path }) => path).join(' ')}`);

let held = true;
for (const [room, found] of Map.groupBy(files, ({ path }) => path.split('/')[0] ?? '')) {
  const counted = found
    .filter((file) => !changed.includes(file))
    .map(({ path, text }) => {
      const lines = codeLines(path, text);
      return { path, lines, missing: lines.filter((line) => ran.get(path)?.has(line) !== true) };
    });
  const total = counted.reduce((sum, { lines }) => sum + lines.length, 0);
  const missing = counted.reduce((sum, one) => sum + one.missing.length, 0);
  const share = total === 0 ? 100 : (100 * (total - missing)) / total;
  const floor = floors[room] ?? 0;
  if (share < floor) held = false;
  print(`${room.padEnd(8)} ${share.toFixed(1)} % of ${total} lines${floor > 0 ? ` (floor ${floor} %)` : ''}`);
  for (const one of counted
    .filter((file) => file.missing.length > 0)
    .sort((a, b) => b.missing.length - a.missing.length)
    .slice(0, maxListed))
    print(
      `           ${String(one.missing.length).padStart(4)}  ${one.path}: ${one.missing.slice(0, 12).join(' ')}`,
    );
}
for (const [test, { passed }] of Object.entries(tests)) if (!passed) print(`FAIL  ${test}`);
process.exitCode = held ? 0 : 1;
