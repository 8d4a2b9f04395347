/*
 * `node scripts/record-transcripts.ts --program DIR [GROUP[/NAME]]…` runs cases of fixtures/compatibility/transcripts/
 * with the unpacked package at DIR, and adds those to the goldens that have none yet.
 *   --check     compares with the goldens as they are, without changes.json, and writes nothing
 *   --changed   records the cases that changes.json lists as `output`, into changed/<group>.golden
 *   --overwrite records cases that have a golden again; only for a golden that was never released
 *   --zone ZONE the time zone of the processes
 * Goldens come from the package of program.json alone: another one is refused, but for --check and --changed.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Case, readCases, readSetUps, transcripts } from '../test/compatibility/transcripts/cases.ts';
import { readChanges } from '../test/compatibility/transcripts/changes.ts';
import {
  type Block,
  type Golden,
  goldenPath,
  readGolden,
  renderBlock,
  renderGolden,
} from '../test/compatibility/transcripts/golden.ts';
import { Place } from '../test/compatibility/transcripts/place.ts';
import { parseFlags, refuse } from './parse-flags.ts';

const { values, positionals } = parseFlags({
  program: { type: 'string' },
  zone: { type: 'string', default: 'UTC' },
  check: { type: 'boolean', default: false },
  changed: { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
});

const folder = values.changed ? 'changed' : '';
const all = readCases();
const recorded = new Map<string, Map<string, readonly Block[]>>();
const goldens = new Map<string, Golden>();
const cases = all.filter(isWanted);
let failed = 0;
if (values.program === undefined) refuse('Pass `--program DIR`: the unpacked package to record from.');
const program = resolve(values.program);
if (!values.check && !values.changed) requireBaseline(program);
const place = new Place(program, readSetUps(), values.zone);
process.once('exit', () => place.remove());
for (const [index, one] of cases.entries()) {
  await look(one);
  // Written once per group: a fault in a later one loses nothing.
  if (one.group !== cases[index + 1]?.group) write(one.group);
}
process.stdout.write(`${cases.length} cases, ${failed} of them failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function isWanted({ group, name }: Case): boolean {
  const isNamed =
    positionals.length === 0 || positionals.some((word) => word === group || word === `${group}/${name}`);
  if (!isNamed || values.check) return isNamed;
  if (values.changed)
    return readChanges().entries.some(
      (entry) => entry.kind === 'output' && entry.group === group && entry.case === name,
    );
  const isThere = goldenOf(group).has(name);
  if (isThere && !values.overwrite && positionals.includes(`${group}/${name}`))
    throw new Error(`\`${group}/${name}\` has a golden; \`--overwrite\` records it again`);
  return !isThere || values.overwrite;
}

async function look(one: Case): Promise<void> {
  const { group, name } = one;
  const lack = place.lacks(one);
  try {
    if (lack !== undefined) throw new Error(`this machine has no ${lack}`);
    const blocks = await place.run(one);
    if (values.check) check(one, blocks);
    else recorded.set(group, (recorded.get(group) ?? new Map()).set(name, blocks));
  } catch (fault) {
    failed += 1;
    process.stdout.write(`${group}/${name}: ${fault instanceof Error ? fault.message : fault}\n`);
  }
}

function check({ group, name }: Case, blocks: readonly Block[]): void {
  const now = blocks.map(renderBlock).join('').split('\n');
  const then = (goldenOf(group).get(name) ?? []).map(renderBlock).join('').split('\n');
  const at = now.findIndex((line, index) => line !== then[index]);
  if (at >= 0 || now.length !== then.length)
    throw new Error(`line ${at + 1}\n  golden:   ${then[at]}\n  this run: ${now[at]}`);
}

/** The golden of a group as it was at the start. */
function goldenOf(group: string): Golden {
  const known = goldens.get(group) ?? readGolden(group);
  goldens.set(group, known);
  return known;
}

/** Writes what was recorded of a group, in the order of its cases. */
function write(group: string): void {
  if (values.check) return;
  // Read again: another process may have recorded other cases of the group meanwhile.
  const golden = new Map([...readGolden(group, folder), ...(recorded.get(group) ?? [])]);
  const ordered = all.flatMap(({ group: of, name }) => {
    const found = of === group ? golden.get(name) : undefined;
    return found === undefined ? [] : [[name, found] as const];
  });
  mkdirSync(dirname(goldenPath(group, folder)), { recursive: true });
  writeFileSync(goldenPath(group, folder), renderGolden(new Map(ordered)));
}

/** Throws where the program is another one than that of which the goldens are. */
function requireBaseline(directory: string): void {
  const { commit, digest } = JSON.parse(readFileSync(join(transcripts, 'program.json'), 'utf8')) as {
    readonly commit: string;
    readonly digest: string;
  };
  const found = digestOf(directory);
  if (found !== digest)
    throw new Error(
      `goldens are recorded with the package of ${commit} (${digest}) alone, found ${found}; see fixtures/compatibility/README.md`,
    );
}

/** SHA-256 over the paths and bytes of what runs: `bin/` and `dist/`. */
function digestOf(directory: string): string {
  const hash = createHash('sha256');
  const paths = globSync('{bin,dist}/**/*.{js,cjs,json}', { cwd: directory });
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(join(directory, path)));
  return hash.digest('hex');
}
