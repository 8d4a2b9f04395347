/*
 * `npm test -- [ROOM | FILE | --changed]…` runs all tests, or those of rooms (test/<room>.ts), of test files, and of
 * what a change touches. Long tests run with `--long` (`npm run test:long`) and wherever a room or a file is named.
 * `npm run check` runs the rooms of `checkedRooms`. Each room runs in its own Node process, two more at a time than
 * there are cores (up to four). The rooms print TAP; this script adds up their counts. `--costs FILE` writes what each
 * test cost. docs/decisions/0003-test-runner.md has the reasons for a runner of our own.
 */
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { packageVariable, packPackage } from '../test/doors/packed-package.ts';
import { withLargePages } from '../test/rooms/large-pages.ts';
import { makeTemporaryDirectory } from '../test/rooms/temporary-directory.ts';
import { costsVariable, shortVariable } from '../test/rooms/variables.ts';
import { parseFlags } from './parse-flags.ts';
import { type Changes, changedFiles } from './tests/changed-files.ts';
import { checkedRooms, chooseTests, type RoomChoice } from './tests/choose-tests.ts';
import { inMemory } from './tests/in-memory.ts';
import { longestFirst } from './tests/longest-first.ts';
import { readTestTree } from './tests/read-test-tree.ts';
import { type Entry, runEntry } from './tests/run-entry.ts';
import { countTotals } from './tests/totals.ts';

const root = resolve(import.meta.dirname, '..');
const { values: flags, positionals: words } = parseFlags({
  changed: { type: 'boolean' },
  long: { type: 'boolean' },
  costs: { type: 'string' },
});
const changes = flags.changed ? changedFiles(root) : undefined;
/** Whoever names tests gets all of them, long ones included. */
const isNamed = words.length > 0 || changes !== undefined;
const tree = readTestTree(root);
const { rooms, unknown, unreached } = chooseTests(
  {
    words,
    without: flags.long ? [] : checkedRooms,
    ...(changes === undefined ? {} : { changed: changes.files }),
  },
  tree,
);

if (unknown.length > 0) {
  const names = [...tree.rooms.keys()].join(', ');
  process.stderr.write(
    `neither a room nor a file of tests: ${unknown.map((word) => `\`${word}\``).join(', ')}\nrooms: ${names}\n`,
  );
  process.exitCode = 1;
} else {
  if (changes !== undefined) process.stdout.write(sayChosen(changes));
  await runAll(longestFirst(rooms).map(toEntry));
}

function toEntry({ room, files, whole }: RoomChoice): Entry {
  if (whole) return { name: `test/${room}.ts`, argv: [`test/${room}.ts`] };
  const relative = files.map((file) => file.replace(/^test\//, ''));
  const [only = ''] = files;
  return {
    name: files.length === 1 ? only : `test/${room}.ts (${files.length} files)`,
    argv: ['test/rooms/chosen.ts', ...relative],
  };
}

async function runAll(entries: readonly Entry[]): Promise<void> {
  const temporary = makeTemporaryDirectory();
  // Stripping types and compiling is half of what a small room costs: once for all rooms.
  const compileCache = join(root, 'node_modules', '.cache', 'writ-tests');
  const env = withLargePages({
    ...process.env,
    TMPDIR: temporary,
    NODE_COMPILE_CACHE: compileCache,
    ...(isNamed ? {} : { [packageVariable]: packPackage(flags.long ? 'npm' : 'copy') }),
    [shortVariable]: isNamed || flags.long ? undefined : '1',
    [costsVariable]: flags.costs === undefined ? undefined : resolve(flags.costs),
  });
  const before = inMemory(env);
  const totals = countTotals();
  const queue = [...entries];
  // A room waits for disk and for processes of its own a good part of its time.
  const lanes = Array.from({ length: Math.min(4, availableParallelism() + 2) }, async () => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift())
      process.stdout.write(totals.add(await runEntry(entry, env, before)));
  });
  await Promise.all(lanes);
  rmSync(temporary, { recursive: true, force: true });
  process.stdout.write(totals.end());
  process.exitCode = totals.failed() ? 1 : 0;
}

/** What a change touches, and what of it no test stands on. */
function sayChosen({ since, files }: Changes): string {
  const lines = [`${files.length} changed files since ${since}`];
  for (const { room, files: tests, whole } of rooms)
    lines.push(`  ${room}: ${whole ? 'all of it' : tests.join(' ')}`);
  if (unreached.length > 0) lines.push(`  no test stands on ${unreached.join(' ')}`);
  return `${lines.join('\n')}\n`;
}
