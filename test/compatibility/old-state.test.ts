import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { packPackage } from '../doors/packed-package.ts';
import { isLong, leaveOut } from '../rooms/long.ts';
import {
  type Claim,
  faultsOf,
  type OldState,
  readStateChanges,
  readStates,
  runClaim,
  type StateChange,
  stateFixtures,
  unpackState,
} from './old-state.ts';

t.setTimeout(3_600_000);

const { states } = readStates();
const changes = readStateChanges();
const checked = isLong ? states : states.filter(({ sample }) => sample !== undefined);
const cache = mkdtempSync(join(tmpdir(), 'writ-old-state-cache-'));
t.teardown(() => rmSync(cache, { recursive: true, force: true }));

t.test('state that bc4e9f22 wrote still works', async (t) => {
  if (!isLong) leaveOut(states.length - checked.length);
  for (const state of checked)
    t.test(`${state.about} still works in this version`, async (t) => {
      const claims = isLong ? state.claims : state.claims.slice(0, state.sample);
      const meant = changes.filter((change) => change.state === state.name);
      t.same(await faultsIn(unpacked(t, state), claims, meant), []);
    });
});

t.test('damage to old state is detected', async (t) => {
  t.test('a run fails verification if one byte of its signed provenance differs', async (t) => {
    const { root, claims } = damaged(t, 'sealed-own-key', (root) => {
      const { stdout } = spawnSync('git', ['rev-parse', `${runRef(root)}:provenance.sigstore.json`], {
        cwd: join(root, 'repo'),
        encoding: 'utf8',
      });
      return join(root, 'repo/.git/objects', stdout.slice(0, 2), stdout.trim().slice(2));
    });
    t.match(await faultsIn(root, claims(['verify'])), [/^writ verify HEAD --replay: expected exit 0/]);
  });
  t.test('`writ fsck` fails if one byte of a journal differs', async (t) => {
    const { root, claims } = damaged(t, 'waiting-for-two', (root) => {
      const runs = join(root, 'repo/.git/writ/runs');
      return join(runs, readdirSync(runs)[0] ?? '', 'journal.jsonl');
    });
    t.match(await faultsIn(root, claims(['fsck'])), [/^writ fsck: expected exit 0/]);
  });
});

t.test('each meant difference names a claim and has a reason', async (t) => {
  for (const { state, run, reason } of changes) {
    const claims = states.find(({ name }) => name === state)?.claims ?? [];
    t.ok(
      claims.some((claim) => claim.run.join(' ') === run),
      `${state}: writ ${run}`,
    );
    t.match(reason, /\S/);
  }
});

t.test('the list of states names exactly the stored archives', async (t) => {
  const archives = readdirSync(stateFixtures).filter((name) => name.endsWith('.tar.gz'));
  t.same(archives.sort(), states.map(({ name }) => `${name}.tar.gz`).sort());
});

/** A copy of a state in which one byte of the file is another, and those of its claims that begin with these words. */
function damaged(t: Test, name: string, fileIn: (root: string) => string) {
  const state = states.find((one) => one.name === name);
  if (state === undefined) throw new Error(`no state is called \`${name}\``);
  const root = unpacked(t, state);
  const path = fileIn(root);
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  chmodSync(path, 0o600);
  writeFileSync(path, bytes);
  const claims = (words: readonly string[]) =>
    state.claims.filter(({ run }) => words.every((word, at) => run[at] === word)).slice(0, 1);
  return { root, claims };
}

function runRef(root: string): string {
  const [id = ''] = readdirSync(join(root, 'repo/.git/refs/ai/runs'));
  return `refs/ai/runs/${id}`;
}

function unpacked(t: Test, { name }: OldState): string {
  // The name of the test would make paths of sockets too long.
  const root = mkdtempSync(join(tmpdir(), 'state-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  unpackState(join(stateFixtures, `${name}.tar.gz`), root);
  return root;
}

/** Runs claims, one after the other; returns what does not hold, without the differences that are meant. */
async function faultsIn(
  root: string,
  claims: readonly Claim[],
  meant: readonly StateChange[] = [],
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const claim of claims) {
    const run = claim.run.join(' ');
    const patterns = meant
      .filter((change) => change.run === run)
      .map((change) => new RegExp(`^${change.difference}$`, 's'));
    const answer = await runClaim(packPackage(), root, cache, claim);
    for (const fault of faultsOf(claim, answer))
      if (!patterns.some((pattern) => pattern.test(fault))) faults.push(`writ ${run}: ${fault}`);
  }
  return faults;
}
