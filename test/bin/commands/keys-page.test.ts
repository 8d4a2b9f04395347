import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { long } from '../../rooms/long.ts';
import { writProgram } from '../../starter/program.ts';
import { until } from '../../waiting/until.ts';
import { asksForTwo } from '../asks-for-two.ts';
import { runLine } from '../host.ts';

/** Runs in a sandbox, approvals and seals on a busy machine. */
t.setTimeout(400_000);

const page = readFileSync(new URL('../../../docs/guides/keys.md', import.meta.url), 'utf8');
const blocks = new Map(
  [...page.matchAll(/^```sh ([a-z-]+)\n([\s\S]*?)^```$/gm)].map(([, name = '', block = '']) => [name, block]),
);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-keys-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const followed = new Set<string>();

interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the schemas
  readonly data: any;
  readonly error?: { readonly code: string };
}

/** A repository whose changes Ana approves, and its user. */
function makePlace(name: string, config = '') {
  const [repo, home, bin] = ['repo', 'home', 'bin'].map((part) => join(root, name, part)) as [
    string,
    string,
    string,
  ];
  for (const directory of [join(repo, '.writ'), home, bin]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(bin, 'writ'), `#!/bin/sh\nexec "${process.execPath}" "${writProgram}" "$@"\n`);
  chmodSync(join(bin, 'writ'), 0o755);
  const env = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: home,
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, encoding: 'utf8' }).trim();
  const ana = makeKey(join(root, name), 'ana');
  writeFileSync(join(repo, '.writ', 'allowed_signers'), `ana@example.org ${publicOf(ana)}\n`);
  writeFileSync(join(repo, '.writ', 'config.toml'), config);
  writeFileSync(join(repo, 'a.txt'), 'two\n');
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Dana');
  git('config', 'user.email', 'dana@example.org');
  git('add', '-A');
  git('commit', '-qm', 'base');
  const keys = join(home, '.config', 'writ', 'keys');
  const writ = async (...argv: string[]): Promise<Answer> => {
    const { code, out } = await runLine(['--json', ...argv], commands, { cwd: repo, env });
    return { code, ...JSON.parse(out) };
  };
  let changes = 0;
  return {
    repo,
    env,
    git,
    ana,
    keys,
    writ,
    /** Runs a block of the page. */
    follow(block: string, variables: Readonly<Record<string, string>> = {}, expected = 0): string {
      followed.add(block);
      const given = { cwd: repo, env: { ...env, ...variables }, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['-e', '-c', blocks.get(block) ?? 'exit 99'],
        given,
      );
      t.equal(status, expected, status === expected ? block : `${block}: ${stdout}${stderr}`);
      return stdout;
    },
    /** A change that waits for one approval. */
    async change(): Promise<Answer> {
      changes += 1;
      const spec = sampleSpecWith({
        metadata: { id: `keys-${name}-${changes}`, target: { repo: { type: 'local', locator: repo } } },
        risk: { level: 'medium', humanInLoop: { required: true, minApprovers: 1 } },
        provenance: { transparencyLog: { mode: 'internal-ledger' } },
        ...asksForTwo,
      });
      writeFileSync(join(root, name, 'spec.json'), JSON.stringify(spec));
      const file = `added-${changes}.txt`;
      const patch = `--- /dev/null\n+++ b/${file}\n@@ -0,0 +1 @@\n+two\n`;
      writeFileSync(join(root, name, 'change.patch'), patch);
      return await writ('run', join(root, name, 'spec.json'), '--patch', join(root, name, 'change.patch'));
    },
    async sealed(t: Test, key = ana): Promise<string> {
      const waiting = await this.change();
      t.equal(waiting.code, 4, JSON.stringify(waiting.error));
      t.equal((await writ('approve', waiting.data.run_id, '--key', key)).code, 0);
      const done = await writ('resume', waiting.data.run_id);
      t.equal(done.code, 0, JSON.stringify(done.error));
      return done.data.decision.commit_sha;
    },
    /** Exit code and code of one check of a verification. */
    async verified(commit: string, check: string, ...options: string[]) {
      const { code, data } = await writ('verify', commit, ...options);
      const found = data.targets?.[0]?.checks ?? data.checks;
      const one = found.find(({ id }: { readonly id: string }) => id === check);
      return { code, status: one?.status, why: one?.code, detail: one?.detail };
    },
  };
}

/** Times of allowed signers are whole seconds: the next one, once the clock shows it. */
async function nextSecond(): Promise<string> {
  const now = () => new Date().toISOString().replace(/[-:T]|\.\d+/g, '');
  const first = now();
  await until(() => now() !== first, 'another second');
  return now();
}

const { code: healthy } = await runLine(['doctor'], commands, { cwd: root, env: { HOME: root } });
const skip =
  withoutSshKeygen ||
  (healthy === 0 || healthy === 128 ? false : 'writ doctor: no run works on this machine');

long('an approver key is rotated, lost and stolen as docs/guides/keys.md says', { skip }, async (t) => {
  const place = makePlace('approver');
  const { repo, ana, writ, follow } = place;
  const signers = ['--allowed-signers', join(repo, '.writ', 'allowed_signers'), '--require', 'approvals'];
  const passed = { code: 0, status: 'passed' };
  const first = await place.sealed(t);
  await nextSecond();
  const open = await place.change();
  follow('approver-rotation');
  t.match(await writ('resume', open.data.run_id), { code: 1, error: { code: 'TARGET_MOVED' } });
  t.match(await place.verified(first, 'approvals', ...signers), passed, 'an old approval verifies');

  const waiting = await place.change();
  const old = await writ('approve', waiting.data.run_id, '--key', ana);
  t.match(old, { code: 1, data: { approved: 0, approvers: [{ status: 'expired' }] } });
  const fresh = join(repo, 'ana-new.key');
  t.match(await writ('approve', waiting.data.run_id, '--key', fresh), { code: 0, data: { approved: 1 } });
  const second = (await writ('resume', waiting.data.run_id)).data.decision.commit_sha;
  t.match(await place.verified(second, 'approvals', ...signers), passed);

  const STOLEN = await nextSecond();
  const third = await place.sealed(t, fresh);
  t.match(await place.verified(third, 'approvals', ...signers), passed, 'before anyone knows');
  const held = await place.change();
  const WAITING = held.data.run_id;
  await writ('approve', WAITING, '--key', fresh);
  follow('approver-compromise', { KEY: publicOf(fresh).split(' ')[1] ?? '', STOLEN, WAITING });
  t.match((await writ('show', WAITING)).data.decision, { type: 'abandon' });
  t.match(
    await place.verified(second, 'approvals', ...signers),
    passed,
    'an approval before the theft counts',
  );
  t.match(await place.verified(third, 'approvals', ...signers), { code: 1, why: 'policy-deny' });
  follow('approver-check', { COMMIT: third }, 1);
  follow('approver-check', { COMMIT: first });
});

long('a signer key is rotated, lost and stolen as docs/guides/keys.md says', { skip }, async (t) => {
  const place = makePlace('signer');
  const { keys, follow, repo } = place;
  const publicKeys = () => readdirSync(keys).filter((name) => /^signing-.*\.pub\.pem$/.test(name));
  const first = await place.sealed(t);
  const [old = ''] = publicKeys();
  copyFileSync(join(keys, old), join(repo, 'old-signer.pem'));
  follow('signer-rotation');
  const second = await place.sealed(t);
  const fresh = publicKeys().find((name) => name !== old) ?? '';
  t.match(await place.verified(first, 'signature'), { code: 0 }, 'old and new are trusted here');
  t.match(await place.verified(second, 'signature'), { code: 0 });
  const by = (name: string) => ['--key', join(keys, name)];
  t.match(await place.verified(first, 'signature', ...by(old)), { code: 0 });
  t.match(await place.verified(second, 'signature', ...by(fresh)), { code: 0 });
  t.match(await place.verified(first, 'signature', ...by(fresh)), { code: 3, why: 'untrusted-signer' });
  t.match(await place.verified(second, 'signature', ...by(old)), { code: 3, why: 'untrusted-signer' });

  rmSync(join(keys, 'signing.pem'));
  const third = await place.sealed(t);
  t.match(await place.verified(second, 'signature'), { code: 0 }, 'a lost key stays trusted');
  t.match(await place.verified(third, 'signature'), { code: 0 });

  follow('signer-compromise', { OLD_ID: old.replace(/^signing-|\.pub\.pem$/g, '') });
  t.match(await place.verified(first, 'signature'), { code: 3, why: 'untrusted-signer' });
  t.match(await place.verified(third, 'signature'), { code: 0 });
  const { data } = await place.writ('ledger', 'show');
  t.match(follow('signer-old-change', { COMMIT: first, LOG: data.vkey }), /log-inclusion .*index 0/);
});

long('a ledger key is rotated, lost and stolen as docs/guides/keys.md says', { skip }, async (t) => {
  const place = makePlace('ledger', '[log]\nmirror = "git"\n');
  const { keys, follow, writ } = place;
  const keyOf = async (): Promise<string> => (await writ('ledger', 'show')).data.vkey;
  const first = await place.sealed(t);
  const old = await keyOf();
  t.match(follow('ledger-rotation'), old, 'it prints both keys');
  const fresh = await keyOf();
  t.not(fresh, old);
  t.equal(fresh.split('+')[0], old.split('+')[0], 'the log keeps its name');
  t.notOk(readdirSync(keys).some((name) => name.endsWith('.retired.pem')));
  const second = await place.sealed(t);
  const log = ['--require', 'log'];
  for (const commit of [first, second])
    t.match(await place.verified(commit, 'log-history', ...log), { code: 0, status: 'passed' });
  t.match(
    await place.verified(second, 'log-inclusion'),
    { detail: { size: 2, index: 1 } },
    'the log continues',
  );
  t.match(await place.verified(first, 'log-inclusion', '--ledger-key', old, '--ledger-key', fresh), {
    code: 0,
  });
  const untrusted = { code: 3, status: 'unverified', why: 'untrusted-log' };
  t.match(await place.verified(first, 'log-inclusion', '--ledger-key', fresh), untrusted);
  t.match(await place.verified(second, 'log-inclusion', '--ledger-key', old), untrusted);
  t.match(await place.verified(second, 'log-inclusion', '--ledger-key', fresh), { code: 0 });

  rmSync(join(keys, 'ledger.pem'));
  const open = await place.change();
  t.match(open, { code: 128, error: { code: 'LEDGER_FOREIGN' } }, 'a lost key stops runs before any work');
  follow('ledger-loss');
  const third = await place.sealed(t);
  for (const commit of [first, second, third])
    t.match(await place.verified(commit, 'log-history', ...log), { code: 0, status: 'passed' });

  follow('ledger-compromise');
  follow('ledger-proof', { NEW_KEY: await keyOf() });
  t.match(readFileSync(join(place.repo, 'entry.tlog-proof'), 'utf8'), /^c2sp.org\/tlog-proof@v1\n/);

  await t.test('a ledger that was put back, or that another user signed, is not handed over', async (t) => {
    const ledger = join(place.repo, '.git', 'writ', 'ledger');
    cpSync(ledger, `${ledger}-old`, { recursive: true });
    await place.sealed(t);
    rmSync(ledger, { recursive: true });
    renameSync(`${ledger}-old`, ledger);
    const before = readdirSync(keys);
    t.match(await writ('ledger', 'rotate'), { code: 1, error: { code: 'LOG_FAILED' } }, 'its copy has more');
    place
      .git('for-each-ref', '--format=delete %(refname)', 'refs/ai/ledger/')
      .split('\n')
      .forEach((line) => {
        place.git('update-ref', '-d', line.slice('delete '.length));
      });
    t.match(await writ('ledger', 'rotate'), { code: 128, error: { code: 'LEDGER_CORRUPT' } });
    t.strictSame(readdirSync(keys), before, 'no key was put aside');
    const env = { ...place.env, HOME: join(root, 'elsewhere') };
    const { out } = await runLine(['--json', 'ledger', 'rotate'], commands, { cwd: place.repo, env });
    t.match(JSON.parse(out), { error: { code: 'LEDGER_FOREIGN' } });
    rmSync(ledger, { recursive: true });
    t.match(await writ('ledger', 'rotate'), { code: 3, error: { code: 'LEDGER_MISSING' } });
  });
});

long('every command of docs/guides/keys.md was run', { skip }, async (t) => {
  t.strictSame([...blocks.keys()].sort(), [...followed].sort());
});
