/*
 * `node scripts/make-old-state.ts PROGRAM [STATE…]`: makes the states of `fixtures/compatibility/state` with the
 * package in the directory PROGRAM: all, or the named ones. The committed ones are made by the package of bc4e9f22
 * alone. A state that is there already is never overwritten.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type Answer,
  type Claim,
  makerHost,
  type OldState,
  readStates,
  runClaim,
  stateFixtures,
  unpackState,
} from '../test/compatibility/old-state.ts';
import { commonFacts } from './old-state/facts.ts';
import { packState } from './old-state/pack.ts';
import { clock, makePlace, neutralDirectory } from './old-state/place.ts';
import type { Expectation } from './old-state/recipe.ts';
import { recipes } from './old-state/recipes.ts';
import { parseFlags, refuse } from './parse-flags.ts';

const [program = '', ...names] = parseFlags({}).positionals;
if (program === '' || !existsSync(join(program, 'bin', 'writ.js')))
  refuse('Pass the directory of an unpacked package: node scripts/make-old-state.ts PROGRAM [STATE…]');
const packageDirectory = resolve(program);
const wanted = names.length === 0 ? Object.keys(recipes) : names;
const present = wanted.filter((name) => existsSync(archiveOf(name)));
if (present.length > 0) refuse(`A state is never made again: ${present.join(', ')}`);
if (hostname() === makerHost) await makeStates();
else process.exitCode = onNeutralHost();

/** This program again, on a machine with another name: locks and journals may hold it. */
function onNeutralHost(): number {
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const line = `hostname ${makerHost} && exec "$0" "$@"`;
  const again = ['--uts', 'sh', '-c', line, process.execPath, ...process.argv.slice(1)];
  return spawnSync('unshare', [...asRoot, ...again], { stdio: 'inherit' }).status ?? 1;
}

async function makeStates(): Promise<void> {
  Object.assign(process.env, clock);
  await import('../test/compatibility/shifted-clock.ts');
  mkdirSync(neutralDirectory, { recursive: true });
  for (const name of wanted)
    await makeState(name).catch((fault: unknown) => {
      process.stderr.write(`${name}: ${fault instanceof Error ? fault.message : fault}\n`);
      process.exitCode = 1;
    });
}

async function makeState(name: string): Promise<void> {
  const recipe = recipes[name];
  if (recipe === undefined) throw new Error(`no state is called \`${name}\``);
  const place = makePlace(packageDirectory, name, recipe.files);
  const claims = await recipe.make(place);
  const archive = packState(place.root, [
    process.cwd(),
    packageDirectory,
    ...(homedir() === '/root' ? [] : [homedir()]),
  ]);
  writeFileSync(archiveOf(name), archive, { flag: 'wx' });
  try {
    const state = await recordFacts(name, claims);
    const { madeBy, states } = readStates();
    const { about, sample } = recipe;
    write(madeBy, [
      ...states.filter((one) => one.name !== name),
      { name, about, ...(sample ? { sample } : {}), claims: state },
    ]);
    process.stdout.write(`${name}: ${archive.length} bytes, ${claims.length} claims\n`);
  } catch (fault) {
    rmSync(archiveOf(name));
    throw fault;
  }
}

/** Runs the claims on two copies, each at another path: what both answer is a fact. */
async function recordFacts(name: string, claims: readonly Expectation[]): Promise<readonly Claim[]> {
  const first = await answersOn('one', name, claims);
  // Two clocks that show the same second would make the id of a commit a fact.
  const second = await answersOn('other', name, claims.map(later));
  return claims.map(({ run, exit: _, ...rest }, at): Claim => {
    const [one, other] = [first[at], second[at]];
    if (one === undefined || one.exit === null || one.exit !== other?.exit)
      throw new Error(`${name}: \`writ ${run.join(' ')}\` ended with ${one?.exit} and with ${other?.exit}`);
    const facts = commonFacts(run, one.data, other.data);
    return { run, exit: one.exit, ...rest, ...(facts === undefined ? {} : { facts }) };
  });
}

function later(claim: Expectation): Expectation {
  if (claim.at === undefined) return claim;
  return { ...claim, at: new Date(Date.parse(claim.at) + 3_600_000).toISOString() };
}

/** The old program's answers on a copy. Throws where it ends with another exit code than the recipe says. */
async function answersOn(
  copy: string,
  name: string,
  claims: readonly Expectation[],
): Promise<readonly Answer[]> {
  const root = join(neutralDirectory, `${copy}-of-${name}`);
  rmSync(root, { recursive: true, force: true });
  unpackState(archiveOf(name), root);
  const answers: Answer[] = [];
  for (const { exit = 0, ...claim } of claims) {
    const answer = await runClaim(packageDirectory, root, join(neutralDirectory, 'cache'), {
      ...claim,
      exit: 0,
    });
    if (exit !== 'recorded' && answer.exit !== exit)
      throw new Error(
        `\`writ ${claim.run.join(' ')}\` ended with ${answer.exit}: ${answer.text.slice(-3000)}`,
      );
    answers.push(answer);
  }
  rmSync(root, { recursive: true });
  return answers;
}

function archiveOf(name: string): string {
  return join(stateFixtures, `${name}.tar.gz`);
}

/** One claim per line, so that a reader sees what a change of the list changes. */
function write(madeBy: string, states: readonly OldState[]): void {
  const sorted = [...states].sort((one, other) => (one.name < other.name ? -1 : 1));
  const blocks = sorted.map(({ claims, ...rest }) => {
    const lines = claims.map((claim) => `   ${JSON.stringify(claim)}`);
    const head = JSON.stringify(rest).slice(1, -1);
    return `  {${head}, "claims": [\n${lines.join(',\n')}\n  ]}`;
  });
  writeFileSync(
    join(stateFixtures, 'states.json'),
    `{"madeBy": ${JSON.stringify(madeBy)}, "states": [\n${blocks.join(',\n')}\n]}\n`,
  );
}
