import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { emptyRoot, isConsistent } from '../../../attest/log/merkle.ts';
import { commands } from '../../../bin/command-table.ts';
import { errorCatalogue } from '../../../core/base/error-codes.ts';
import { makeMachine, removeMachines } from '../../attest/verify/sealed-run.ts';
import { bundleBy, statement } from '../../attest/verify/strangers.ts';
import { runLine } from '../../bin/host.ts';
import { long } from '../../rooms/long.ts';

t.teardown(removeMachines);

const here = makeMachine();
mkdirSync(here.home, { recursive: true });
const env = {
  PATH: process.env.PATH ?? '',
  HOME: here.home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
const garbage: Readonly<Record<string, string | Buffer>> = {
  'random.bin': Buffer.from(Array.from({ length: 512 }, (_, n) => (n * 167 + 13) % 256)),
  brace: '{',
  nul: Buffer.alloc(64),
  number: '1',
  deep: '['.repeat(5000),
  'half.pem': '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
  vkey: 'log+00000000+AAAA\n',
  signers: 'ana@example.org ssh-ed25519 AAAA\n',
};
for (const [name, content] of Object.entries(garbage)) writeFileSync(join(here.root, name), content);
mkdirSync(join(here.root, 'directory'));
execFileSync('mkfifo', [join(here.root, 'pipe')]);
writeFileSync(join(here.root, 'b.sigstore.json'), JSON.stringify(bundleBy(statement())));

async function verify(...argv: string[]) {
  const line = ['--json', 'verify', 'b.sigstore.json', ...argv];
  const { code, out, err } = await runLine(line, commands, { cwd: here.root, env });
  return { code, err, ...JSON.parse(out) };
}

/** What only an exception of the runtime would say. */
const raw =
  /\b(?:E[A-Z]{4,}|ERR_[A-Z_]+|[A-Z]?[a-z]*Error|undefined|not a function|Cannot read|Unexpected token|asn1|error:[0-9a-f]{8})\b/;

long('a bad trust option is exit code 129 with a usage error and no exception text', async (t) => {
  for (const option of ['key', 'trusted-root', 'ledger-key', 'allowed-signers', 'spec'])
    for (const name of [
      ...Object.keys(garbage),
      'directory',
      'missing',
      'directory/x',
      'brace/x',
      'x'.repeat(300),
    ]) {
      if (option === 'spec' && name === 'number') continue;
      const { code, error, err } = await verify(`--${option}`, name);
      const what = `--${option} ${name.slice(0, 20)}: ${error?.code} ${error?.message}`;
      t.equal(code, 129, what);
      const catalogue: Readonly<Record<string, { readonly family: string }>> = errorCatalogue;
      t.equal(catalogue[error.code]?.family, 'usage', what);
      t.notMatch(error.message, raw, what);
      t.equal(err, '');
    }
  for (const more of [
    ['--artifact', 'missing'],
    ['--artifact', 'directory'],
    ['--artifact', 'pipe'],
    ['--artifact', 'brace/x'],
    ['--artifact', 'x'.repeat(300)],
    ['--artifact', 'sha256:'],
    ['--level', 'SLSA_BUILD_LEVEL_9'],
    ['--level', 'FAILED'],
    ['--resource-uri', 'a b'],
    ['--verifier-id', '\u0000'],
    ['--source-repository', 'a b'],
    ['--source-ref', ''],
    ['--require', 'nothing'],
    ['--identity', 'me@example.org'],
    ['--ledger-key', 'a+b+c'],
    ['--commit', '--run'],
  ]) {
    const { code, error } = await verify(...more);
    t.equal(code, 129, `${more.join(' ').slice(0, 40)}: ${error?.message}`);
    t.notMatch(error.message, raw, more.join(' ').slice(0, 40));
  }
});

t.test('a bad pinned key is exit code 129, and the error names its file', async (t) => {
  const trust = join(here.home, '.config/writ/trust');
  mkdirSync(trust, { recursive: true });
  for (const name of ['a.pem', 'a.vkey', 'a.tlog-policy']) {
    const path = join(trust, name);
    writeFileSync(path, 'x\n', { mode: 0o600 });
    const { code, error } = await verify();
    t.equal(code, 129, name);
    t.match(error.message, path);
    const { rmSync } = await import('node:fs');
    rmSync(path);
  }
});

t.test('the empty tree is consistent only with itself and is a prefix of every other tree', async (t) => {
  const empty = { size: 0, root: emptyRoot };
  const other = Buffer.alloc(32, 7);
  t.equal(isConsistent(empty, empty, []), true);
  t.equal(isConsistent(empty, { size: 0, root: other }, []), false);
  t.equal(isConsistent({ size: 0, root: other }, empty, []), false);
  t.equal(isConsistent(empty, { size: 3, root: other }, []), true);
  t.equal(isConsistent(empty, { size: 3, root: other }, [other]), false);
  for (const size of [-1, 0.5, Number.NaN, 2 ** 53])
    for (const to of [empty, { size: 3, root: other }]) {
      t.equal(isConsistent({ size, root: emptyRoot }, to, []), false);
      t.equal(isConsistent(empty, { size, root: other }, []), false);
    }
});

t.test('an invalid size is refused in every field of a bundle', async (t) => {
  const key = join(here.root, 'k.pem');
  const { signerKey } = await import('../../attest/verify/strangers.ts');
  const { createPublicKey } = await import('node:crypto');
  writeFileSync(key, createPublicKey(signerKey).export({ format: 'pem', type: 'spki' }));
  for (const value of ['-1', '+1', '01', '1e3', '9007199254740993', '', ' 1', -1, 1.5, null, '0x1']) {
    const bundle = bundleBy(statement());
    bundle.verificationMaterial.tlogEntries = [
      {
        logIndex: '0',
        logId: { keyId: Buffer.alloc(32).toString('base64') },
        kindVersion: { kind: 'hashedrekord', version: '0.0.2' },
        integratedTime: '0',
        inclusionProof: {
          logIndex: '0',
          rootHash: Buffer.alloc(32).toString('base64'),
          treeSize: value,
          hashes: [],
          checkpoint: { envelope: 'x' },
        },
        canonicalizedBody: Buffer.from('{}').toString('base64'),
      },
    ];
    writeFileSync(join(here.root, 'b.sigstore.json'), JSON.stringify(bundle));
    const { code, data, error } = await verify('--key', 'k.pem');
    t.equal(code, 1, JSON.stringify(value));
    t.match(
      data.checks.find(({ id }: { id: string }) => id === 'log'),
      { status: 'failed', code: 'malformed' },
    );
    t.notMatch(error.message, raw);
  }
});
