import { createPublicKey } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { parseVkey } from '../../../attest/log/note.ts';
import { formatTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import {
  makeMachine,
  removeMachines,
  sealRun,
  specDocument,
  toSource,
} from '../../attest/verify/sealed-run.ts';
import {
  artifact,
  bundleBy,
  envelopeBy,
  identity,
  issuer,
  type Loose,
  makeAuthorities,
  signerKey,
  statement,
} from '../../attest/verify/strangers.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.teardown(removeMachines);

/** A run by somebody else, handed over; this machine is no repository and knows nobody. */
const author = makeMachine();
await sealRun(author, { runId: 'run-0' });
// Content of a run from January is past its retention by now.
const sealed = await sealRun(author, { artifactDays: 30 });
const here = makeMachine();
mkdirSync(here.home, { recursive: true });
const env = {
  PATH: process.env.PATH ?? '',
  HOME: here.home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
const ledger = openUserLedger(author.commonDir, { HOME: author.home }, systemClock);
const vkey = (await ledger.vkey()) ?? '';
const authorities = await makeAuthorities();

const files: Record<string, string | Buffer> = {
  'evidence.json': await formatEvidenceFile('run-1', toSource(sealed)),
  'signer.pem': (await openUserSigningKey({ HOME: author.home })).publicKeyPem,
  'stranger.pem': createPublicKey(signerKey).export({ format: 'pem', type: 'spki' }).toString(),
  'log.vkey': vkey,
  'log-root.json': formatTrustedRoot([parseVkey(vkey)]),
  'root.json': JSON.stringify(authorities.root),
  'spec.json': JSON.stringify(specDocument({ artifactDays: 30 })),
  'other-spec.json': JSON.stringify({ ...specDocument(), more: 1 }),
  'provenance.json': sealed.run.get('provenance.sigstore.json') ?? '',
  'run.tlog-proof': sealed.run.get('transparency-proof.tlog-proof') ?? '',
  'app.tgz': artifact,
  'app.sigstore.json': JSON.stringify(await authorities.sign(statement())),
  'key.sigstore.json': JSON.stringify(bundleBy(statement()), null, 2),
  'all.intoto.jsonl': `${JSON.stringify(envelopeBy(signerKey, statement()))}\n\n${JSON.stringify(bundleBy(statement()))}\n{}\n`,
  'empty.json': '',
};
for (const [name, content] of Object.entries(files)) writeFileSync(join(here.root, name), content);

interface Answer {
  readonly code: number;
  readonly data?: Loose;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: Loose;
    readonly hints?: readonly string[];
  };
}

async function verify(...argv: string[]): Promise<Answer> {
  const { code, out } = await runLine(['--json', 'verify', ...argv], commands, { cwd: here.root, env });
  const document = JSON.parse(out);
  if (document.data) t.strictSame(faultsOf('verify', document.data), [], `${argv.join(' ')} has its shape`);
  return { code, ...document };
}

const signer = ['--key', 'signer.pem'];

t.test('an exported evidence file verifies outside a repository with the signer’s key', async (t) => {
  const none = await verify('evidence.json');
  t.match(none, { code: 3, error: { code: 'VERIFY_NOTHING', details: { code: 'untrusted-signer' } } });
  t.match(none.error?.hints, [/--key FILE.*key id [0-9a-f]{64}/]);
  const good = await verify(
    'evidence.json',
    ...signer,
    '--ledger-key',
    'log.vkey',
    '--spec',
    'spec.json',
    '--offline',
  );
  t.match(good, {
    code: 0,
    data: { verified: true, targets: [{ kind: 'evidence', run_id: 'run-1', commit_sha: sealed.commit.id }] },
  });
  t.equal(good.data.expected, good.data.ran);
  const spec = await verify('evidence.json', ...signer, '--spec', 'other-spec.json');
  t.match(spec, { code: 1, error: { code: 'VERIFY_REFUTED', details: { check: 'spec', code: 'mismatch' } } });
  const source = ['--source-repository', 'https://github.com/example/app'];
  t.match(await verify('evidence.json', ...signer, ...source), {
    code: 3,
    error: { details: { check: 'source-repository', code: 'missing' } },
  });
  const replay = await verify('evidence.json', ...signer, '--replay');
  t.match(replay, {
    code: 1,
    error: { details: { check: 'replay', code: 'replay-mismatch', file: 'decision-input.json' } },
  });
  t.equal(
    (await verify('evidence.json', ...signer, '--artifact', 'app.tgz')).error?.details.code,
    'wrong-subject',
  );
});

t.test('an exported trusted root works in place of the log key', async (t) => {
  t.equal((await verify('evidence.json', ...signer, '--trusted-root', 'log-root.json')).code, 0);
  const foreign = makeMachine();
  await sealRun(foreign);
  const other = (await openUserLedger(foreign.commonDir, { HOME: foreign.home }, systemClock).vkey()) ?? '';
  writeFileSync(join(here.root, 'other-root.json'), formatTrustedRoot([parseVkey(other)]));
  const refused = await verify('evidence.json', ...signer, '--trusted-root', 'other-root.json');
  t.match(refused, { code: 3, error: { details: { code: 'untrusted-log' } } });
});

t.test('each of several targets is verified, and the worst result decides', async (t) => {
  const keys = [...signer, '--key', 'stranger.pem'];
  const all = await verify('all.intoto.jsonl', 'key.sigstore.json', ...keys, '--artifact', 'app.tgz');
  t.equal(all.code, 3);
  t.same(
    all.data.targets.map(({ target, verified }: { target: string; verified: boolean }) => [target, verified]),
    [
      ['all.intoto.jsonl:1', true],
      ['all.intoto.jsonl:3', true],
      ['all.intoto.jsonl:4', false],
      ['key.sigstore.json', true],
    ],
  );
  t.match(await verify('empty.json'), { code: 3, data: { verified: false, ran: 0 } });
});

t.test('a certificate bundle needs a trusted root, an identity and an issuer', async (t) => {
  const line = ['app.sigstore.json', '--artifact', 'app.tgz'];
  const by = ['--identity', identity, '--issuer', issuer];
  t.equal((await verify(...line, ...by, '--trusted-root', 'root.json')).code, 0);
  const none = await verify(...line);
  t.match(none, { code: 3, error: { details: { code: 'untrusted-signer', identity, issuer } } });
  t.match(none.error?.hints, [/--trusted-root FILE --identity/]);
  for (const half of [
    ['--identity', identity, '--trusted-root', 'root.json'],
    ['--issuer', issuer, '--trusted-root', 'root.json'],
    by,
  ])
    t.match(await verify(...line, ...half), { code: 129, error: { code: 'USAGE' } }, half.join(' '));
  t.equal((await verify(...line, ...by, '--trusted-root', 'root.json', '--key', 'signer.pem')).code, 0);
  t.match(await verify('app.sigstore.json', ...by, '--trusted-root', 'root.json'), {
    code: 3,
    error: { details: { check: 'subject', code: 'missing', found: [/^app\.tgz sha256:/] } },
  });
});

t.test('a log proof verifies that an artifact was logged under the given key', async (t) => {
  const log = ['--ledger-key', vkey];
  const about = ['--artifact', 'provenance.json'];
  t.equal((await verify('run.tlog-proof', ...log, ...about)).code, 0);
  t.equal((await verify('run.tlog-proof', ...log, ...about, ...signer)).code, 0);
  t.match(await verify('run.tlog-proof', ...log, ...about, '--key', 'stranger.pem'), {
    code: 3,
    error: { details: { check: 'signer' } },
  });
  t.match(await verify('run.tlog-proof', ...log), {
    code: 3,
    error: { details: { check: 'subject', code: 'missing' } },
  });
  t.match(await verify('run.tlog-proof', ...log, '--artifact', 'app.tgz'), {
    code: 1,
    error: { details: { code: 'wrong-subject' } },
  });
  t.match(await verify('run.tlog-proof', ...about), {
    code: 3,
    error: { details: { code: 'untrusted-log' } },
  });
  t.match(await verify('run.tlog-proof', ...log, ...about, '--source-ref', 'refs/heads/main'), {
    code: 3,
    error: { details: { check: 'source-ref' } },
  });
  t.match(await verify('run.tlog-proof', ...log, ...about, '--replay'), {
    code: 3,
    error: { details: { check: 'replay' } },
  });
});

t.test('an artifact is a file or a digest, and a malformed digest is a usage error', async (t) => {
  const bundle = ['key.sigstore.json', '--key', 'stranger.pem', '--artifact'];
  t.equal((await verify(...bundle, `sha256:${statement().subject[0].digest.sha256}`)).code, 0);
  t.equal((await verify(...bundle, 'sha256:abc')).code, 129);
  t.match(await verify(...bundle, 'absent.tgz'), { code: 129, error: { code: 'INPUT_UNREADABLE' } });
  t.match(await verify('./absent.json'), { code: 129, error: { code: 'INPUT_UNREADABLE' } });
  t.match(await verify('absent'), { code: 128, error: { code: 'NOT_A_REPOSITORY' } });
});

t.test('an unknown predicate type is unverified unless `--type` names it', async (t) => {
  writeFileSync(
    join(here.root, 'p.json'),
    JSON.stringify(bundleBy(statement({ predicateType: 'https://example.org/p' }))),
  );
  const line = ['p.json', '--key', 'stranger.pem', '--artifact', 'app.tgz'];
  const refused = await verify(...line);
  t.match(refused, { code: 3, error: { details: { code: 'not-judged', found: 'https://example.org/p' } } });
  t.match(refused.error?.message, 'https://example.org/p');
  t.match(refused.error?.hints, [/--type https:\/\/example\.org\/p/]);
  t.equal((await verify(...line, '--type', 'https://example.org/p')).code, 0);
});

t.test('`--explain` adds one claim per check and prints a tree', async (t) => {
  const { data } = await verify('evidence.json', ...signer, '--explain');
  t.equal(data.explain[0].claims.length, data.checks.length);
  const { out } = await runLine(['verify', 'evidence.json', ...signer, '--explain'], commands, {
    cwd: here.root,
    env,
  });
  t.match(
    out,
    /├ signer {3}key [0-9a-f]{64} \(given\)\n {4}├ log {6}writ-ledger\/\S+ {2}entry 1 of 2\n {4}└ rule/,
  );
});

t.test('a bare word such as `HEAD` is never read as a file', async (t) => {
  writeFileSync(join(here.root, 'HEAD'), readFileSync(join(here.root, 'evidence.json')));
  t.match(await verify('HEAD', ...signer), { code: 128, error: { code: 'NOT_A_REPOSITORY' } });
  t.equal((await verify('./HEAD', ...signer)).code, 0);
});
