/*
 * `node scripts/make-old-state.ts PROGRAM [STATE…]`: makes the states of `fixtures/compatibility/state` with the package
 * in the directory PROGRAM: all, or the named ones. The committed ones are made by the package of bc4e9f22 alone. A
 * state that is there already is never overwritten.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type Claim,
  faultsOf,
  makerHost,
  type OldState,
  readStates,
  runClaim,
  stateFixtures,
  unpackState,
} from '../test/compatibility/old-state.ts';
import { commonFacts } from './old-state/facts.ts';
import { packState } from './old-state/pack.ts';
import { makePlace, neutralDirectory } from './old-state/place.ts';
import { recipes } from './old-state/recipes.ts';

const [program = '', ...names] = process.argv.slice(2);
if (program === '' || !existsSync(join(program, 'bin', 'writ.js')))
  throw new Error(
    'usage: node scripts/make-old-state.ts PROGRAM [STATE…]: PROGRAM is the directory of a package',
  );
const packageDirectory = resolve(program);
const wanted = names.length === 0 ? Object.keys(recipes) : names;
const present = wanted.filter((name) => existsSync(archiveOf(name)));
if (present.length > 0) throw new Error(`a state is never made again: ${present.join(', ')}`);
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
  process.env.WRIT_STATE_BEGINS = String(Date.UTC(2026, 0, 15, 9));
  process.env.WRIT_STATE_SINCE = String(Date.now());
  await import('./old-state/shifted-clock.ts');
  mkdirSync(neutralDirectory, { recursive: true });
  for (const name of wanted) await makeState(name);
}

async function makeState(name: string): Promise<void> {
  const recipe = recipes[name];
  if (recipe === undefined) throw new Error(`no state is called \`${name}\``);
  const place = makePlace(packageDirectory, recipe.files);
  const claims = (await recipe.make(place)).map(({ run, exit = 0, ...rest }) => ({ run, exit, ...rest }));
  const archive = packState(place.root, [
    process.cwd(),
    packageDirectory,
    ...(homedir() === '/root' ? [] : [homedir()]),
  ]);
  writeFileSync(archiveOf(name), archive, { flag: 'wx' });
  try {
    const state = recordFacts(name, claims);
    const { madeBy, states } = readStates();
    const { about, sample } = recipe;
    write(madeBy, [...states, { name, about, ...(sample ? { sample } : {}), claims: state }]);
    process.stdout.write(`${name}: ${archive.length} bytes, ${claims.length} claims\n`);
  } catch (fault) {
    rmSync(archiveOf(name));
    throw fault;
  }
}

/** Runs the claims on two copies, each at another path: what both answer is a fact. */
function recordFacts(name: string, claims: readonly Claim[]): readonly Claim[] {
  const answers = ['first', 'second'].map((copy) =>
    onCopy(name, copy, (root) =>
      claims.map((claim) => {
        const answer = runClaim(packageDirectory, root, cache(), claim);
        const faults = faultsOf(claim, answer);
        if (faults.length > 0)
          throw new Error(`${name}: \`writ ${claim.run.join(' ')}\`: ${faults.join('; ')}`);
        return answer;
      }),
    ),
  );
  return claims.map((claim, at): Claim => {
    const [first, second] = answers.map((all) => all[at]);
    const facts = commonFacts(claim.run, first?.data ?? null, second?.data ?? null);
    return facts === undefined ? claim : { ...claim, facts };
  });
}

function onCopy<T>(name: string, copy: string, use: (root: string) => T): T {
  const root = join(neutralDirectory, `copy-${copy}`);
  rmSync(root, { recursive: true, force: true });
  unpackState(archiveOf(name), root);
  try {
    return use(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function cache(): string {
  return join(neutralDirectory, 'cache');
}

function archiveOf(name: string): string {
  return join(stateFixtures, `${name}.tar.gz`);
}

/** One claim per line, so that a reader sees what a change of the list changes. */
function write(madeBy: string, states: readonly OldState[]): void {
  const blocks = states.map(({ claims, ...rest }) => {
    const lines = claims.map((claim) => `   ${JSON.stringify(claim)}`);
    const head = JSON.stringify(rest).slice(1, -1);
    return `  {${head}, "claims": [\n${lines.join(',\n')}\n  ]}`;
  });
  writeFileSync(
    join(stateFixtures, 'states.json'),
    `{"madeBy": ${JSON.stringify(madeBy)}, "states": [\n${blocks.join(',\n')}\n]}\n`,
  );
}
