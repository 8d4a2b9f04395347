import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { changeVault, findInVaults, globalVault, repositoryVault } from '../../../api/vault/vault.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { s3PlaceOf } from '../../../engine/config/table-reader.ts';
import { findS3Credentials } from '../../../plugins/store/s3/s3-credentials.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-s3-keys-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const { dir, git } = makeRepository(join(root, 'repo'));
const repository = await openRepository(dir);
const file = (id: string) =>
  `[other]\naws_access_key_id = no\n[default]\naws_access_key_id = ${id}\naws_secret_access_key = s-${id}\n`;

t.test(
  'credentials come from the environment, then the vault, then a file that only its owner can read',
  async (t) => {
    const home = join(root, 'home');
    mkdirSync(join(home, '.aws'), { recursive: true });
    const path = join(home, '.aws', 'credentials');
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
    const vault: Parameters<typeof findS3Credentials>[1]['vault'] = (place, name) =>
      findInVaults(place, env, name);
    const find = (more = {}) => findS3Credentials(repository, { env: { ...env, ...more }, vault });
    await t.rejects(find(), { code: 'STORE_CREDENTIALS' });
    writeFileSync(path, file('of-file'), { mode: 0o644 });
    await t.rejects(find(), { code: 'KEY_INSECURE' });
    chmodSync(path, 0o600);
    t.strictSame(await find(), { accessKeyId: 'of-file', secretAccessKey: 's-of-file' });
    const set = (id: string) =>
      new Map([
        ['AWS_ACCESS_KEY_ID', { value: id, scopes: [] }],
        ['AWS_SECRET_ACCESS_KEY', { value: `s-${id}`, scopes: [] }],
      ]);
    await changeVault(globalVault(env), () => set('of-user'));
    t.match(await find(), { accessKeyId: 'of-user' });
    await changeVault(await repositoryVault(repository, env), () => set('of-repository'));
    t.match(await find(), { accessKeyId: 'of-repository' });
    const given = { AWS_ACCESS_KEY_ID: 'of-env', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 'token' };
    t.strictSame(await find(given), { accessKeyId: 'of-env', secretAccessKey: 's', sessionToken: 'token' });
    t.match(
      await find({ AWS_ACCESS_KEY_ID: 'half' }),
      { accessKeyId: 'of-repository' },
      'half of a pair is none',
    );
  },
);

t.test('a credentials file that git tracks is refused', async (t) => {
  const path = join(dir, 'credentials');
  writeFileSync(path, file('tracked'), { mode: 0o600 });
  const find = () => findS3Credentials(repository, { env: { AWS_SHARED_CREDENTIALS_FILE: path } });
  t.match(await find(), { accessKeyId: 'tracked' }, 'not yet tracked');
  git('add', 'credentials');
  await t.rejects(find(), { code: 'STORE_CREDENTIALS', message: /git tracks `credentials`/ });
});

t.test('`[store.s3]` names a bucket, and holds no credential', async (t) => {
  const forms = { signers: new Map(), logs: new Map() };
  const section = (more: string) =>
    Buffer.from(`[store.s3]\nendpoint = "https://s3.example.org/"\nbucket = "the-bucket"\n${more}`);
  const refused = (more: string, message: RegExp) => {
    for (const read of [() => s3PlaceOf(section(more)), () => parseConfig(section(more), forms)])
      t.throws(read, { code: 'CONFIG_INVALID', message });
  };
  t.strictSame(s3PlaceOf(section('')), {
    endpoint: 'https://s3.example.org',
    bucket: 'the-bucket',
    prefix: 'writ/',
    region: 'us-east-1',
    pathStyle: true,
  });
  for (const key of ['secret_access_key', 'access_key_id', 'session_token', 'credentials_file']) {
    refused(`${key} = "AKIA-value"`, /credentials are never read from a tracked file/);
    try {
      s3PlaceOf(section(`${key} = "AKIA-value"`));
    } catch (fault) {
      t.notMatch(`${String(fault)} ${JSON.stringify(fault)}`, /AKIA-value/);
    }
  }
  refused('bucket_name = "x"', /bucket_name/);
  refused('prefix = "../other/"', /prefix/);
  refused('prefix = "no-slash"', /prefix/);
  refused('region = "a b"', /region/);
  for (const endpoint of [
    'http://s3.example.org',
    'https://user:secret@s3.example.org',
    'ftp://x',
    'https://x?a=b',
  ])
    t.throws(
      () => s3PlaceOf(Buffer.from(`[store.s3]\nendpoint = "${endpoint}"\nbucket = "the-bucket"\n`)),
      { code: 'CONFIG_INVALID' },
      endpoint,
    );
  t.throws(() => s3PlaceOf(undefined), { code: 'CONFIG_INVALID', message: /store\.s3/ });
});
