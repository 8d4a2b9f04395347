import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/verify');
const identity = 'https://github.com/builders/generator/.github/workflows/generic.yml@refs/tags/v2.0.0';
const issuer = 'https://token.actions.githubusercontent.com';

async function verify(folder: string, bundle: string, root: string, ...options: readonly string[]) {
  const at = (name: string) => join(fixtures, folder, name);
  const { code, out } = await runLine(
    [
      '--json',
      'verify',
      at(bundle),
      '--artifact',
      join(fixtures, 'material/app.tgz'),
      '--trusted-root',
      at(root),
    ].concat(['--identity', identity, '--issuer', issuer], options),
    commands,
    { cwd: fixtures, env: { HOME: join(fixtures, 'no-home'), PATH: process.env.PATH ?? '' } },
  );
  const { data, error } = JSON.parse(out);
  return {
    code,
    error,
    checks: data?.checks,
    check: (id: string) => data.checks.find((one: { id: string }) => one.id === id),
  };
}

t.test('a trusted root that also lists an Ed25519 log', async (t) => {
  const folder = 'certificate-under-root-with-ed25519-log';
  t.test('verifies a bundle that is in another of its logs', async (t) => {
    for (const root of ['root.json', 'root-with-ed25519-log.json']) {
      const { code, check } = await verify(folder, 'good.json', root);
      t.equal(code, 0, root);
      t.match(check('log'), { status: 'passed', detail: { entries: 1 } }, root);
    }
  });
  t.test('does not satisfy a log that `--ledger-key` demands', async (t) => {
    const root = JSON.parse(readFileSync(join(fixtures, folder, 'root-with-ed25519-log.json'), 'utf8'));
    const key = Buffer.from(root.tlogs[1].publicKey.rawBytes, 'base64').subarray(-32);
    const id = Buffer.from(root.tlogs[1].logId.keyId, 'base64');
    const typed = Buffer.concat([Buffer.of(1), key]).toString('base64');
    const vkey = `log2026.example.org+${id.subarray(0, 4).toString('hex')}+${typed}`;
    const { code, check } = await verify(
      folder,
      'good.json',
      'root-with-ed25519-log.json',
      '--ledger-key',
      vkey,
    );
    t.equal(code, 3);
    t.match(check('log'), { status: 'missing', code: 'not-logged' });
  });
});

t.test('the source repository of a certificate', async (t) => {
  const folder = 'source-repository';
  const good = 'https://github.com/good/app';
  const evil = 'https://github.com/evil/app';
  t.test('is shown, and is refused where the predicate names another repository', async (t) => {
    const { code, check } = await verify(folder, 'good.json', 'root.json');
    t.equal(code, 0);
    t.strictSame(check('source-repository'), {
      id: 'source-repository',
      status: 'passed',
      detail: { repository: good },
    });
    const theirs = await verify(folder, 'evil.json', 'root.json');
    t.equal(theirs.code, 0, 'no source is demanded');
    t.match(theirs.check('source-repository'), { detail: { repository: evil } });
    const lie = await verify(folder, 'evil-says-good.json', 'root.json');
    t.equal(lie.code, 1);
    t.match(lie.check('source-repository'), {
      status: 'failed',
      code: 'mismatch',
      detail: { member: '/externalParameters/workflow/repository', expected: evil, found: good },
    });
  });
  t.test('must be the one that `--source-repository` demands, letter by letter', async (t) => {
    const demand = (bundle: string, uri: string) =>
      verify(folder, bundle, 'root.json', '--source-repository', uri);
    t.equal((await demand('good.json', good)).code, 0);
    for (const [bundle, uri] of [
      ['evil.json', good],
      ['good.json', `${good}s`],
      ['good.json', 'https://github.com/Good/app'],
      ['good.json', '.*'],
    ] as const) {
      const { code, check } = await demand(bundle, uri);
      t.equal(code, 1, uri);
      t.match(check('source-repository'), { status: 'failed', code: 'mismatch', detail: { expected: uri } });
    }
    t.match(await demand('good.json', 'a b'), { code: 129, error: { code: 'USAGE' } });
  });
  t.test('is missing where a demanded ref is not in the certificate', async (t) => {
    const { code, check } = await verify(folder, 'good.json', 'root.json', '--source-ref', 'refs/tags/v1');
    t.equal(code, 3);
    t.match(check('source-ref'), {
      status: 'missing',
      code: 'missing',
      detail: { expected: 'refs/tags/v1' },
    });
  });
});

t.test('the root that `writ trust update` keeps is shown, and verifies identities', async (t) => {
  const home = t.testdir({ target: {} });
  const folder = join(fixtures, 'certificate-under-root-with-ed25519-log');
  const call = async (...line: readonly string[]) => {
    const { code, out } = await runLine(['--json', ...line], commands, { cwd: home, env: { HOME: home } });
    const { data, error } = JSON.parse(out);
    const [first = '', second = ''] = line;
    const name = first === 'trust' ? `${first} ${second}` : first;
    if (data) t.strictSame(faultsOf(name, data), [], name);
    return { code, data, error };
  };
  const artifact = ['--artifact', join(fixtures, 'material/app.tgz')];
  const trust = ['--identity', identity, '--issuer', issuer];
  const verified = () => call('verify', join(folder, 'good.json'), ...artifact, ...trust);
  t.match(await verified(), { code: 129, error: { code: 'USAGE' } });
  t.match(await call('trust', 'show'), { code: 0, data: { roots: [] } });
  const root = join(folder, 'root.json');
  t.match(await call('trust', 'update', root, '--dry-run'), { code: 0, data: { written: false } });
  t.match((await call('trust', 'show')).data.roots, []);
  t.match(await call('trust', 'update', root), { code: 0, data: { written: true, before: null } });
  const kept = join(home, '.config/writ/trust/trusted_root.json');
  t.match(await call('trust', 'show'), {
    code: 0,
    data: { roots: [{ path: kept, newest: { name: /sigstore/ } }] },
  });
  t.equal((await verified()).code, 0);
  chmodSync(kept, 0o666);
  t.match(await verified(), { error: { code: 'KEY_INSECURE' } }, 'others could have written it');
});
