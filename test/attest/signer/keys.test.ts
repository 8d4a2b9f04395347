import { execFileSync, spawn } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  generateKey,
  openKeyFile,
  openOwnKey,
  openUserLedgerKey,
  openUserSigningKey,
} from '../../../attest/keys/key-signer.ts';
import { userConfigDir } from '../../../attest/keys/user-config-dir.ts';
import { loadAnchors } from '../../../attest/verify/anchors.ts';
import { createSignerSource } from './signer-source.ts';

const none = { keyFiles: [], ledgerKeys: [] };
const p256 = (): string =>
  generateKey('ecdsa-p256-sha256').export({ type: 'pkcs8', format: 'pem' }).toString();
const defaultKey = { form: 'default' } as const;

t.test('the configuration directory follows XDG_CONFIG_HOME if it is absolute', async (t) => {
  t.equal(userConfigDir({ HOME: '/h' }), '/h/.config/writ');
  t.equal(userConfigDir({ HOME: '/h', XDG_CONFIG_HOME: '/x' }), '/x/writ');
  t.equal(userConfigDir({ HOME: '/h', XDG_CONFIG_HOME: 'relative' }), '/h/.config/writ');
});

t.test('the signing key is created once with private file modes, and its signatures verify', async (t) => {
  const env = { HOME: t.testdir() };
  const signer = await openUserSigningKey(env);
  const keys = join(userConfigDir(env), 'keys');
  t.equal(statSync(join(keys, 'signing.pem')).mode & 0o777, 0o600);
  t.equal(statSync(keys).mode & 0o777, 0o700);
  t.equal((await openUserSigningKey(env)).keyId, signer.keyId);
  t.match(signer, { algorithm: 'ecdsa-p256-sha256', ephemeral: false });
  const signature = await signer.sign(Buffer.from('x'));
  t.ok(verify('sha256', Buffer.from('x'), createPublicKey(signer.publicKeyPem), signature));
  const ledger = await openUserLedgerKey(env);
  t.equal(ledger.algorithm, 'ed25519');
  t.ok(
    verify(null, Buffer.from('x'), createPublicKey(ledger.publicKeyPem), await ledger.sign(Buffer.from('x'))),
  );
  t.same(
    readdirSync(keys).filter((name) => name.startsWith('.')),
    [],
    'no drafts stay behind',
  );
});

t.test('processes that race to create the first key agree on one key', async (t) => {
  const home = t.testdir();
  const script = `
    const { openUserSigningKey } = await import(${JSON.stringify(new URL('../../../attest/keys/key-signer.ts', import.meta.url).href)});
    process.stdout.write((await openUserSigningKey({ HOME: ${JSON.stringify(home)} })).keyId);`;
  const ids = await Promise.all(
    Array.from({ length: 4 }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
      return new Promise<string>((resolve) => child.on('close', () => resolve(printed)));
    }),
  );
  t.equal(new Set(ids).size, 1);
  t.match(ids[0], /^[0-9a-f]{64}$/);
});

t.test('concurrent calls in one process agree on one key', async (t) => {
  const directory = join(t.testdir(), 'keys');
  const signers = await Promise.all(
    Array.from({ length: 8 }, () => openOwnKey(directory, 'signing', 'ecdsa-p256-sha256')),
  );
  t.equal(new Set(signers.map(({ keyId }) => keyId)).size, 1);
});

t.test('a key file that others can access, or that is not a regular file, is KEY_INSECURE', async (t) => {
  const directory = t.testdir({ good: p256(), readable: p256(), target: p256(), folder: {} });
  const at = (name: string): string => join(directory, name);
  for (const name of ['good', 'target']) chmodSync(at(name), 0o600);
  chmodSync(at('readable'), 0o640);
  symlinkSync(at('target'), at('link'));
  execFileSync('mkfifo', ['-m', '600', at('pipe')]);
  t.ok(await openKeyFile(at('good'), 'ecdsa-p256-sha256'));
  for (const name of ['readable', 'link', 'pipe', 'folder']) {
    await t.rejects(openKeyFile(at(name), 'ecdsa-p256-sha256'), { code: 'KEY_INSECURE' }, name);
  }
  if (process.geteuid?.() === 0) {
    const { chownSync } = await import('node:fs');
    chownSync(at('target'), 12_345, 12_345);
    await t.rejects(
      openKeyFile(at('target'), 'ecdsa-p256-sha256'),
      { code: 'KEY_INSECURE' },
      'of another user',
    );
  }
  chmodSync(directory, 0o777);
  await t.rejects(
    openKeyFile(at('good'), 'ecdsa-p256-sha256'),
    { code: 'KEY_INSECURE' },
    'in a directory of everybody',
  );
  chmodSync(directory, 0o755);
  writeFileSync(at('huge'), Buffer.alloc(70_000), { mode: 0o600 });
  await t.rejects(
    openKeyFile(at('huge'), 'ecdsa-p256-sha256'),
    { code: 'KEY_INSECURE' },
    'too large to be a key',
  );
});

t.test('a key of the wrong type is KEY_UNUSABLE, and the error does not quote it', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const ed25519 = generateKey('ed25519').export({ type: 'pkcs8', format: 'pem' });
  const ssh = '-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n';
  for (const pem of [rsa, p384, ed25519, ssh, 'SECRET-TEXT', '']) {
    const directory = t.testdir({ key: pem.toString() });
    chmodSync(join(directory, 'key'), 0o600);
    const fault = await openKeyFile(join(directory, 'key'), 'ecdsa-p256-sha256').then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    t.match(fault, { code: 'KEY_UNUSABLE' });
    t.notMatch(
      JSON.stringify([fault, (fault as Error).message, String((fault as Error).cause)]),
      /SECRET|MII|MHc/,
    );
  }
  chmodSync(join(t.testdir({ key: ed25519.toString() }), 'key'), 0o600);
  t.match(
    await openKeyFile(join(t.testdirName, 'key')),
    { algorithm: 'ed25519' },
    'either kind where none is asked',
  );
  await t.rejects(openKeyFile(join(t.testdir(), 'absent'), 'ecdsa-p256-sha256'), { code: 'KEY_UNUSABLE' });
});

t.test('under CI an ephemeral key is used only if the caller requests it', async (t) => {
  const home = t.testdir();
  const refused = createSignerSource({ env: { HOME: home, CI: 'true' }, ephemeral: false });
  await t.rejects(refused.open(defaultKey), { code: 'SIGNER_EPHEMERAL' });
  t.notOk(existsSync(join(home, '.config')), 'and no key is left behind');
  const thrownAway = createSignerSource({ env: { HOME: home, CI: 'true' }, ephemeral: true });
  const signer = await thrownAway.open(defaultKey);
  t.equal(signer.ephemeral, true);
  t.equal((await thrownAway.open(defaultKey)).keyId, signer.keyId, 'one key for the whole process');
  t.notOk(existsSync(join(home, '.config')), 'and it is only in memory');
  for (const CI of ['', '0', 'false', 'FALSE']) {
    const source = createSignerSource({ env: { HOME: home, CI }, ephemeral: false });
    t.equal((await source.open(defaultKey)).ephemeral, false, `CI=${CI}`);
  }
  t.equal((await refused.open(defaultKey)).ephemeral, false, 'a key that is there is used');
});

t.test('configured keys from a file or a variable are used, also under CI', async (t) => {
  const home = t.testdir({ 'k.pem': p256() });
  chmodSync(join(home, 'k.pem'), 0o600);
  const source = createSignerSource({
    env: { HOME: home, CI: '1', KEY: p256(), EMPTY: '', BAD: 'SECRET' },
    ephemeral: false,
  });
  const file = await source.open({ form: 'file', path: join(home, 'k.pem') });
  t.equal(file.ephemeral, false);
  t.equal((await source.open({ form: 'file', path: '~/k.pem' })).keyId, file.keyId);
  t.equal((await source.open({ form: 'env', name: 'KEY' })).ephemeral, false);
  for (const name of ['EMPTY', 'ABSENT', 'BAD']) {
    await t.rejects(source.open({ form: 'env', name }), { code: 'KEY_UNUSABLE' }, name);
  }
  const asked = createSignerSource({ env: { HOME: home }, ephemeral: true });
  t.equal((await asked.open({ form: 'file', path: '~/k.pem' })).ephemeral, false, 'a configured key stands');
});

t.test('keys created on this machine are trusted on it, even after they were replaced', async (t) => {
  const env = { HOME: t.testdir() };
  const first = await openUserSigningKey(env);
  await openUserLedgerKey(env);
  const keys = join(userConfigDir(env), 'keys');
  renameSync(join(keys, 'signing.pem'), join(keys, 'old.pem'));
  const second = await openUserSigningKey(env);
  t.not(first.keyId, second.keyId);
  const anchors = await loadAnchors(none, env);
  t.same(anchors.signers.map(({ keyId }) => keyId).sort(), [first.keyId, second.keyId].sort());
  t.ok(anchors.signers.every(({ from }) => from === 'own'));
  t.equal(anchors.ownLedgers.length, 1);
  t.same(await loadAnchors(none, { HOME: t.testdir() }), { signers: [], ledgers: [], ownLedgers: [] });
  const file = t.testdir({ '.config': 'a file where a directory belongs' });
  t.same(await loadAnchors(none, { HOME: file }), { signers: [], ledgers: [], ownLedgers: [] });
});

t.test(
  'pinned and given keys are loaded, and writable, private or malformed key files are refused',
  async (t) => {
    const home = t.testdir();
    const env = { HOME: home };
    const other = await openUserSigningKey({ HOME: join(home, 'other') });
    const trust = join(userConfigDir(env), 'trust');
    mkdirSync(trust, { recursive: true });
    writeFileSync(join(trust, 'other.pem'), other.publicKeyPem);
    const vkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
    writeFileSync(join(trust, 'log.vkey'), `${vkey}\n`);
    writeFileSync(join(trust, 'README'), 'ignored');
    t.match(await loadAnchors(none, env), {
      signers: [{ keyId: other.keyId, from: 'pinned' }],
      ledgers: [{ vkey, from: 'pinned' }],
    });
    const file = join(home, 'given.pem');
    writeFileSync(file, other.publicKeyPem);
    const given = await loadAnchors({ keyFiles: [file], ledgerKeys: [vkey, join(trust, 'log.vkey')] }, env);
    t.same(
      given.signers.map(({ from }) => from),
      ['given', 'pinned'],
    );
    t.same(
      given.ledgers.map(({ from }) => from),
      ['given', 'given', 'pinned'],
    );
    await t.rejects(loadAnchors({ keyFiles: [join(home, 'absent')], ledgerKeys: [] }, env), {
      code: 'INPUT_UNREADABLE',
    });
    await t.rejects(loadAnchors({ keyFiles: [], ledgerKeys: ['a+b+c'] }, env), {
      code: 'ANCHOR_UNUSABLE',
    });
    writeFileSync(file, p256());
    await t.rejects(
      loadAnchors({ keyFiles: [file], ledgerKeys: [] }, env),
      { code: 'ANCHOR_UNUSABLE', detail: { anchor: file } },
      'a private key',
    );
    chmodSync(join(trust, 'other.pem'), 0o666);
    await t.rejects(loadAnchors(none, env), { code: 'KEY_INSECURE' });
    t.ok(readFileSync(join(trust, 'README')));
  },
);
