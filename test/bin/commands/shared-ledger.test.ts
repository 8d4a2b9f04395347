import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { type LedgerKey, parseVkey } from '../../../attest/log/note.ts';
import { acceptEntries, serveLedger } from '../../../attest/log/serve-ledger.ts';
import { tilePath } from '../../../attest/log/tiles.ts';
import type { TlogPolicy } from '../../../attest/log/witness-policy.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { sampleSpecWith } from '../../../testing.ts';
import {
  bearer,
  entryOf,
  makeSharedPlace,
  openShared,
  policyOf,
  post,
  type SharedPlace,
} from '../../attest/log/shared-fixture.ts';
import { startWitness } from '../../attest/log/witness-server.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { asksForTwo } from '../asks-for-two.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';
import { startWrit } from '../start-writ.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-shared-cli-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const env = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Dana',
  GIT_AUTHOR_EMAIL: 'dana@example.org',
  GIT_COMMITTER_NAME: 'Dana',
  GIT_COMMITTER_EMAIL: 'dana@example.org',
  PATH: process.env.PATH ?? '',
};

function homeOf(name: string): Readonly<Record<string, string>> {
  mkdirSync(join(root, name), { recursive: true });
  return { ...env, HOME: join(root, name) };
}

interface Answer {
  readonly code: number;
  readonly error?: { readonly code: string; readonly details?: Readonly<Record<string, unknown>> };
  // biome-ignore lint/suspicious/noExplicitAny: what JSON.parse answers
  readonly data: any;
}

/** Runs `writ --json …`; data of `ledger` commands must have their schema. */
async function ask(
  words: readonly string[],
  home: Readonly<Record<string, string>>,
  cwd = root,
): Promise<Answer> {
  const { code, out } = await runLine(['--json', ...words], commands, { cwd, env: home });
  const { data, error } = JSON.parse(out);
  if (words[0] === 'ledger' && data !== undefined)
    t.strictSame(faultsOf(`ledger ${words[1]}`, data), [], `shape of ${words[1]}`);
  return { code, data, error };
}

interface Server {
  readonly url: string;
  readonly vkey: string;
  readonly stop: () => Promise<unknown>;
}

/** The command itself, in a process. */
async function startCommand(directory: string, policy: string): Promise<Server> {
  const words = ['ledger', 'serve', '--write', '--directory', directory, '--policy', policy];
  const started = startWrit(words, { cwd: root, env: homeOf('server-home') });
  await started.until(() => /^key: /m.test(started.err()));
  return {
    url: /on (http:\S+?)\/?,/.exec(started.err())?.[1] ?? '',
    vkey: /^key: (\S+)/m.exec(started.err())?.[1] ?? '',
    async stop() {
      started.child.kill('SIGTERM');
      return started.ended;
    },
  };
}

/** A server in this process. */
async function startServer(t: Test, place: SharedPlace, policy?: TlogPolicy): Promise<Server> {
  const ledger = await openShared(place, policy);
  const add = acceptEntries(place.directory, ledger, systemClock, () => undefined);
  const { url, close } = await serveLedger(ledger.read, { port: 0, add });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= ledger.close().then(close);
    return stopped;
  };
  t.teardown(stop);
  return { url, vkey: ledger.vkey, stop };
}

function makePlace(name: string): SharedPlace {
  mkdirSync(join(root, name));
  return makeSharedPlace(join(root, name));
}

/** Adds a repository, and entries of it. */
async function addEntries(
  directory: string,
  { url }: Server,
  name: string,
  texts: readonly string[],
): Promise<string> {
  const { data } = await ask(
    ['ledger', 'token', 'add', name, '--directory', directory],
    homeOf('server-home'),
  );
  for (const text of texts) t.equal((await post(url, entryOf(text), bearer(data.token))).status, 200);
  return data.token;
}

async function witnessOf(t: Test, keys: () => readonly LedgerKey[]) {
  const witness = await startWitness('w1', keys);
  t.teardown(() => witness.close());
  const policy = join(root, `policy-${witness.key.keyId.toString('hex').slice(0, 8)}`);
  writeFileSync(policy, `${witness.policyLine}\nquorum w1\n`);
  return { witness, policy };
}

long('a repository seals into a shared ledger, and its proof is verified without the server', async (t) => {
  const directory = join(root, 'sealing');
  let key: LedgerKey | undefined;
  const { policy } = await witnessOf(t, () => (key ? [key] : []));
  const server = await startCommand(directory, policy);
  key = parseVkey(server.vkey);
  const token = await addEntries(directory, server, 'shop', []);
  const repo = join(root, 'repo');
  mkdirSync(join(repo, '.writ', 'trust'), { recursive: true });
  writeFileSync(join(repo, 'a.txt'), 'one\n');
  cpSync(policy, join(repo, '.writ/trust/ledger.tlog-policy'));
  const log = { server: server.url, vkey: server.vkey, policy: '.writ/trust/ledger.tlog-policy' };
  const lines = Object.entries(log).map(([name, value]) => `${name} = "${value}"\n`);
  writeFileSync(join(repo, '.writ', 'config.toml'), `[log]\n${lines.join('')}`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'base');
  const spec = sampleSpecWith({
    metadata: { target: { repo: { type: 'local', locator: repo } } },
    provenance: { transparencyLog: { mode: 'internal-ledger' } },
    ...asksForTwo,
  });
  writeFileSync(join(root, 'spec.json'), JSON.stringify(spec));
  writeFileSync(join(root, 'good.patch'), '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n');
  const run = ['run', join(root, 'spec.json'), '--patch', '../good.patch'];
  const author = homeOf('author');
  t.match(await ask(run, author, repo), { code: 128, error: { code: 'LEDGER_TOKEN' } });
  const sealed = await ask(run, { ...author, WRIT_LEDGER_TOKEN: token }, repo);
  t.equal(sealed.code, 0, JSON.stringify(sealed.error));
  t.notMatch(JSON.stringify(sealed), token.split(':')[1] ?? '?', 'the token is not shown');
  t.equal(await server.stop(), 0);

  const strange = homeOf('stranger');
  const keys = join(root, 'author/.config/writ/keys');
  const [pem = ''] = readdirSync(keys).filter((name) => /^signing-.*\.pub\.pem$/.test(name));
  const verify = ['verify', 'HEAD', '--key', join(keys, pem), '--require', 'log'];
  t.match(await ask([...verify, '--ledger-key', server.vkey], strange, repo), { code: 0 });
  // The key of another log does not do.
  const other = openUserLedger(join(root, 'elsewhere'), strange, systemClock);
  t.match(await ask([...verify, '--ledger-key', await other.vkey()], strange, repo), { code: 3 });
  // The quorum counts where the verifier asks for it.
  const trust = join(root, 'stranger/.config/writ/trust');
  mkdirSync(trust, { recursive: true });
  cpSync(policy, join(trust, 'shared.tlog-policy'));
  t.match(await ask([...verify, '--ledger-key', server.vkey], strange, repo), { code: 0 });
  const { policy: unmet } = await witnessOf(t, () => []);
  cpSync(unmet, join(trust, 'shared.tlog-policy'));
  const refused = await ask([...verify, '--ledger-key', server.vkey], strange, repo);
  t.match(refused, { code: 3 });
  t.match(JSON.stringify(refused.data), /no-quorum/);
});

t.test('a follower audits what is new, by repository, and reports a log that was put back', async (t) => {
  const place = makePlace('followed');
  const { directory } = place;
  const server = await startServer(t, place);
  await addEntries(directory, server, 'shop', ['1', '2', '3']);
  const auditor = homeOf('auditor');
  const words = [
    'ledger',
    'audit',
    server.url,
    '--vkey',
    server.vkey,
    '--follow',
    '--interval',
    '1',
    '--json',
  ];
  const audited = join(root, 'auditor/.config/writ/trust/audited');
  mkdirSync(audited, { recursive: true });
  /** Until the log has been looked at; the command ends with exit 0 when it is interrupted. */
  async function follow(size: number): Promise<unknown> {
    const over = new AbortController();
    const running = runLine(words, commands, { cwd: root, env: auditor, signal: over.signal });
    await until(() =>
      readdirSync(audited, { recursive: true }).some((name) => basename(String(name)) === String(size)),
    );
    over.abort();
    const { code, out } = await running;
    t.equal(code, 0);
    return JSON.parse(out.split('\n')[0] ?? '');
  }
  t.match(await follow(6), { from: 0, to: 6, repositories: { shop: 3 } });
  cpSync(directory, join(root, 'old-copy'), { recursive: true });
  await addEntries(directory, server, 'desk', ['4']);
  t.match(await follow(8), { from: 6, to: 8, repositories: { desk: 1 } });
  await server.stop();
  // It goes on where it was, and so sees a log that has lost entries.
  const again = ['ledger', 'audit', join(root, 'old-copy', 'log'), '--vkey', server.vkey, '--follow'];
  const { code, err } = await runLine(again, commands, { cwd: root, env: auditor });
  t.equal(code, 1);
  t.match(err, /VERIFY_REFUTED.*seen with 8 entries and has 6/);
});

t.test('a backup is restored only where it lacks nothing that was seen', async (t) => {
  const place = makePlace('kept');
  const { directory } = place;
  const { policy, witness } = await witnessOf(t, () => [place.key]);
  const parsed = policyOf([witness.policyLine, 'quorum w1']);
  let server = await startServer(t, place, parsed);
  const operator = homeOf('operator');
  const backup = join(root, 'backup');
  const vkey = ['--vkey', server.vkey];
  const token = await addEntries(directory, server, 'shop', ['1', '2']);
  t.match(await ask(['ledger', 'backup', server.url, backup, ...vkey], operator), {
    code: 0,
    data: { entries: 4, added: 4 },
  });
  cpSync(backup, join(root, 'older'), { recursive: true });
  const proof = await post(server.url, entryOf('3'), bearer(token));
  writeFileSync(join(root, 'seen.tlog-proof'), proof.body);
  t.match(await ask(['ledger', 'backup', server.url, backup, ...vkey], operator), {
    code: 0,
    data: { entries: 6, added: 2 },
  });
  t.match(await ask(['ledger', 'audit', backup, ...vkey, '--policy', policy], operator), { code: 0 });
  // A log that lost entries does not replace its backup.
  t.match(await ask(['ledger', 'backup', join(root, 'older'), backup, ...vkey], homeOf('nobody')), {
    code: 1,
    error: { code: 'VERIFY_REFUTED', details: { reason: 'stale', kept: 6, found: 4 } },
  });
  await server.stop();
  rmSync(join(directory, 'log'), { recursive: true });
  const restore = ['ledger', 'restore', '--directory', directory, ...vkey];
  const blank = homeOf('blank');
  const missing = { code: 128, error: { code: 'LEDGER_INCOMPLETE', details: { missing: [4, 5] } } };
  t.match(
    await ask([...restore, join(root, 'older'), '--known', join(root, 'seen.tlog-proof')], blank),
    missing,
  );
  t.match(await ask([...restore, join(root, 'older'), '--policy', policy], blank), missing);
  t.throws(() => readdirSync(join(directory, 'log')), 'nothing was written');
  // One entry of the backup is exchanged.
  cpSync(backup, join(root, 'forged'), { recursive: true });
  const bundle = join(root, 'forged', tilePath('entries', 0, 6));
  writeFileSync(bundle, readFileSync(bundle).fill(7, 20, 21));
  t.match(await ask([...restore, join(root, 'forged'), '--policy', policy], blank), {
    code: 128,
    error: { code: 'LEDGER_CORRUPT' },
  });
  const known = ['--known', join(root, 'seen.tlog-proof'), '--policy', policy];
  t.match(await ask([...restore, backup, ...known], blank), {
    code: 0,
    data: { entries: 6, compared: [{ size: 6 }, { from: 'the witnesses', size: 6 }] },
  });
  server = await startServer(t, place, parsed);
  t.equal((await post(server.url, entryOf('4'), bearer(token))).status, 200, 'it goes on');
  const repeated = await post(server.url, entryOf('1'), bearer(token));
  t.match(repeated.body.toString(), /\nindex 0\n/, 'and knows what it has');
  await server.stop();
});

t.test('the ledger of a repository moves into a shared one, each entry proven', async (t) => {
  const place = makePlace('shared');
  const { directory } = place;
  const server = await startServer(t, place);
  const token = await addEntries(directory, server, 'shop', ['before']);
  const repo = join(root, 'migrating');
  mkdirSync(repo);
  execFileSync('git', ['init', '-q', repo], { env });
  const author = homeOf('migrator');
  const own = openUserLedger(join(repo, '.git'), author, systemClock);
  await own.appendAll(Array.from({ length: 40 }, (_, n) => entryOf(`old ${n}`)));
  const before = await own.prove(39);
  const words = ['ledger', 'migrate', '--server', server.url, '--shared-vkey', server.vkey];
  t.match(await ask(words, author, repo), { code: 128, error: { code: 'LEDGER_TOKEN' } });
  const withToken = { ...author, WRIT_LEDGER_TOKEN: token };
  const moved = await ask([...words, '-o', '../moved.json'], withToken, repo);
  t.match(moved, { code: 0, data: { entries: 40 } }, JSON.stringify(moved.error));
  t.equal(new Set(moved.data.indexes).size, 40);
  t.equal(moved.data.checkpoint, before.checkpoint, 'proofs by the old log hold as they did');
  const again = await ask(words, withToken, repo);
  t.same(again.data.indexes, moved.data.indexes, 'a second time appends nothing');
  t.equal(again.data.shared_checkpoint, moved.data.shared_checkpoint);
  await server.stop();
});
