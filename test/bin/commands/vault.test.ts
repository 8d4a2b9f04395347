import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { formatSecrets, maxVaultBytes, readVault, repositoryVault } from '../../../api/vault/vault.ts';
import { encryptText, makeIdentity, recipientOf } from '../../../attest/keys/age.ts';
import { commands } from '../../../bin/command-table.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';
import { startWrit } from '../start-writ.ts';

const canary = 'sk-canary-0123456789abcdef';

function placeOf(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const directory = join(sample.root, '.writ', 'vault');
  const config = join(sample.home, '.config', 'writ', 'vault');
  const writ = async (argv: readonly string[], stdin: string | Buffer = '') => {
    const place = { cwd: sample.root, env: sample.env, stdin };
    const { code, out, err } = await runLine(['--json', 'vault', ...argv], commands, place);
    t.notMatch(out + err, canary, 'no value is told');
    return { exit: code, err, ...JSON.parse(out) };
  };
  const vault = async () => readVault(await repositoryVault(await openRepository(sample.root), sample.env));
  return {
    ...sample,
    writ,
    vault,
    file: join(directory, 'secrets.age'),
    directory,
    identity: join(config, 'identity.txt'),
    global: join(config, 'secrets.age'),
  };
}

t.test('a secret is set, listed, replaced and removed in the repository and global vaults', async (t) => {
  const { writ, vault, file, identity, global, git } = placeOf(t);
  t.strictSame((await writ(['list'])).data, { secrets: [] });
  const set = await writ(['set', 'API_KEY', '--scope', 'npm:read', '--scope', 'a:b'], `${canary}\n`);
  t.strictSame(set.data, {
    name: 'API_KEY',
    vault: 'repository',
    replaced: false,
    scopes: ['a:b', 'npm:read'],
  });
  t.strictSame(faultsOf('vault set', set.data), []);
  t.equal((await vault()).get('API_KEY')?.value, canary, 'without the line end');
  for (const path of [file, identity]) t.equal(statSync(path).mode & 0o777, 0o600, path);
  t.equal(git('status', '--porcelain'), '', 'git sees nothing of it');
  t.match(readFileSync(file, 'utf8'), /^-----BEGIN AGE ENCRYPTED FILE-----/);
  t.match((await writ(['set', 'vault.env.API_KEY'], 'another value')).data, { replaced: true });
  t.equal((await vault()).get('API_KEY')?.value, 'another value');
  t.equal((await writ(['set', 'OTHER', '--global'], 'of the user')).exit, 0);
  t.ok(statSync(global).isFile());
  const { data } = await writ(['list']);
  t.strictSame(data.secrets, [
    { name: 'API_KEY', vault: 'repository', scopes: ['a:b', 'npm:read'] },
    { name: 'OTHER', vault: 'global', scopes: [] },
  ]);
  t.strictSame(faultsOf('vault list', data), []);
  t.match(await writ(['rm', 'OTHER']), { exit: 1, error: { code: 'SECRET_UNKNOWN' } });
  const removed = await writ(['rm', 'API_KEY']);
  t.strictSame(faultsOf('vault rm', removed.data), []);
  t.strictSame((await writ(['list'])).data.secrets, [{ name: 'OTHER', vault: 'global', scopes: [] }]);
});

long('invalid names and values are refused, and existing secrets are kept', async (t) => {
  const { writ, directory } = placeOf(t);
  for (const name of [
    '',
    '1A',
    'A-B',
    'A B',
    '__proto__',
    'constructor',
    'toString',
    'prototype',
    'A'.repeat(129),
  ])
    t.match((await writ(['set', name], 'value')).error, { code: 'USAGE' }, name);
  for (const value of ['', '\n', '  ', 'a\0b', Buffer.of(0xff, 0xfe), 'x'.repeat(16 * 1024 + 1)])
    t.match((await writ(['set', 'A'], value)).error, { code: 'USAGE' });
  t.match((await writ(['set', 'A'], 'x'.repeat(65 * 1024))).error, { code: 'INPUT_TOO_LARGE' });
  t.match((await writ(['set', 'A', 'value'], 'x')).error, { code: 'USAGE' });
  t.match((await writ(['set', 'A', '--scope', 'a b'], 'x')).error, { code: 'USAGE' });
  t.throws(() => readdirSync(directory), { code: 'ENOENT' });
  for (const name of ['A', 'B']) t.equal((await writ(['set', name], 'x'.repeat(16 * 1024))).exit, 0);
  t.match((await writ(['set', 'C'], 'x'.repeat(maxVaultBytes - 32 * 1024))).error, {
    code: 'INPUT_TOO_LARGE',
  });
  t.equal((await writ(['list'])).data.secrets.length, 2, 'what was there is still there');
});

t.test('a value given as an argument is refused and not printed', async (t) => {
  const { writ } = placeOf(t);
  t.match(await writ(['set', 'OPENAI_API_KEY', canary], canary), { exit: 129, error: { code: 'USAGE' } });
});

long('an insecure or damaged vault is refused and left unchanged', async (t) => {
  const { writ, file, identity, directory, home } = placeOf(t);
  await writ(['set', 'API_KEY'], canary);
  const good = readFileSync(file);
  const own = readFileSync(identity, 'utf8').trim();
  const put = (content: string | Buffer): void => {
    rmSync(file, { force: true, recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  };
  const of = async (text: string): Promise<string> => encryptText(text, [await recipientOf(own)]);
  const outside = join(home, 'outside.age');
  writeFileSync(outside, good, { mode: 0o600 });
  const form = '"format":"urn:writ:vault:v1"';
  const cases: readonly (readonly [string, string, () => unknown])[] = [
    ['cut', 'VAULT_UNREADABLE', () => put(good.subarray(0, good.length - 40))],
    ['empty', 'VAULT_UNREADABLE', () => put('')],
    ['no age file', 'VAULT_UNREADABLE', () => put('{"format":"urn:writ:vault:v1","env":{}}')],
    [
      'changed',
      'VAULT_UNREADABLE',
      () => put(good.toString().replace(/[a-z](?=[A-Za-z0-9+/=\n]*-----END)/, 'Q')),
    ],
    [
      'of another identity',
      'VAULT_UNREADABLE',
      async () =>
        put(
          await encryptText(formatSecrets(new Map([['A', { value: 'value of it', scopes: [] }]])), [
            await recipientOf(await makeIdentity()),
          ]),
        ),
    ],
    [
      'a name twice',
      'VAULT_UNREADABLE',
      async () =>
        put(await of(`{${form},"env":{"A":{"value":"one","scopes":[]},"A":{"value":"two","scopes":[]}}}`)),
    ],
    [
      'a name of every object',
      'VAULT_UNREADABLE',
      async () => put(await of(`{${form},"env":{"__proto__":{"value":"x","scopes":[]}}}`)),
    ],
    [
      'a value that is none',
      'VAULT_UNREADABLE',
      async () => put(await of(`{${form},"env":{"A":{"value":["x"],"scopes":[]}}}`)),
    ],
    [
      'a scope that is none',
      'VAULT_UNREADABLE',
      async () => put(await of(`{${form},"env":{"A":{"value":"x","scopes":["a b"]}}}`)),
    ],
    [
      'an empty value',
      'VAULT_UNREADABLE',
      async () => put(await of(`{${form},"env":{"A":{"value":"","scopes":[]}}}`)),
    ],
    ['another form', 'VAULT_UNREADABLE', async () => put(await of('{"format":"v2","env":{}}'))],
    ['an unknown field', 'VAULT_UNREADABLE', async () => put(await of(`{${form},"env":{},"more":1}`))],
    [
      'readable by others',
      'KEY_INSECURE',
      () => {
        put(good);
        chmodSync(file, 0o640);
      },
    ],
    [
      '100 MB',
      'KEY_INSECURE',
      () => {
        put(good);
        truncateSync(file, 100_000_000);
      },
    ],
    [
      'a link',
      'KEY_INSECURE',
      () => {
        rmSync(file);
        symlinkSync(outside, file);
      },
    ],
    [
      'a directory',
      'KEY_INSECURE',
      () => {
        rmSync(file);
        mkdirSync(file, { mode: 0o700 });
      },
    ],
    [
      'a link to its directory',
      'KEY_INSECURE',
      () => {
        put(good);
        renameSync(directory, join(home, 'elsewhere'));
        symlinkSync(join(home, 'elsewhere'), directory);
      },
    ],
  ];
  for (const [name, code, spoil] of cases) {
    await spoil();
    for (const argv of [['list'], ['set', 'NEW'], ['rm', 'API_KEY']])
      t.match((await writ(argv, 'value')).error, { code }, `${name}: ${argv[0]}`);
  }
  rmSync(directory);
  renameSync(join(home, 'elsewhere'), directory);
  t.strictSame(readFileSync(file), good, 'what a link led to is as it was');
  t.strictSame(readFileSync(outside), good);
  renameSync(identity, `${identity}.away`);
  t.match((await writ(['set', 'NEW'], 'value')).error, {
    code: 'VAULT_UNREADABLE',
    details: { found: /identity/ },
  });
  t.throws(() => readFileSync(identity), { code: 'ENOENT' }, 'no new identity beside an old vault');
  writeFileSync(identity, 'AGE-SECRET-KEY-1NONE\n', { mode: 0o600 });
  t.match((await writ(['list'])).error, { code: 'KEY_UNUSABLE' });
  chmodSync(`${identity}.away`, 0o644);
  renameSync(`${identity}.away`, identity);
  t.match((await writ(['list'])).error, { code: 'KEY_INSECURE' });
  chmodSync(identity, 0o600);
  t.strictSame((await writ(['list'])).data.secrets, [{ name: 'API_KEY', vault: 'repository', scopes: [] }]);
});

long('concurrent `vault set` processes lose no secret', async (t) => {
  const { root, env, vault, identity, directory } = placeOf(t);
  const names = ['A', 'B', 'C', 'D', 'E', 'F'];
  const started = names.map((name) =>
    startWrit(['vault', 'set', name], { cwd: root, env }, `value of ${name}`),
  );
  t.strictSame(
    await Promise.all(started.map(({ ended }) => ended)),
    names.map(() => 0),
    started.map(({ err }) => err()).join(''),
  );
  t.strictSame(
    [...(await vault())].map(([name, { value }]) => [name, value]).sort(),
    names.map((name) => [name, `value of ${name}`]),
  );
  t.strictSame(readdirSync(directory).sort(), ['.gitignore', 'secrets.age']);
  t.match(readFileSync(identity, 'utf8'), /^AGE-SECRET-KEY-1[0-9A-Z]{58}\n$/);
});
