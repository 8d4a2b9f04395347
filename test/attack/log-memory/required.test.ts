import { createPublicKey } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { handSigner } from '../../attest/approval/hand-signer.ts';
import { approvedBy } from '../../attest/verify/approved-by.ts';
import { makeMachine, removeMachines, sealRun, toSource } from '../../attest/verify/sealed-run.ts';
import { artifact, bundleBy, type Loose, signerKey, statement } from '../../attest/verify/strangers.ts';
import { runLine } from '../../bin/host.ts';
import { people, rich } from '../rich-set.ts';

t.teardown(removeMachines);

const author = makeMachine();
const here = makeMachine();
mkdirSync(here.home, { recursive: true });
const env = {
  PATH: process.env.PATH ?? '',
  HOME: here.home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
const vkey = await openUserLedger(author.commonDir, { HOME: author.home }, systemClock).vkey();
const off = { transparencyLog: { mode: 'none' } };
const kept = { artifactDays: 30 };
/** Stored, by somebody whom nobody knows, and never counted; the contract asks for nobody. */
const stored = approvedBy({ by: handSigner(), as: 'nobody@x' });
const [unlogged, approved, plain, uncounted] = [
  await sealRun(author, { ...kept, provenance: off }),
  await sealRun(author, { ...rich, ...kept, runId: 'run-2' }),
  await sealRun(author, { ...kept, runId: 'run-3' }),
  await sealRun(author, {
    ...kept,
    runId: 'run-4',
    approvals: (subject) => ({ ...stored(subject), verdicts: [] }),
  }),
];
const files: Record<string, string | Buffer> = {
  'unlogged.json': await formatEvidenceFile('run-1', toSource(unlogged)),
  'approved.json': await formatEvidenceFile('run-2', toSource(approved, author)),
  'plain.json': await formatEvidenceFile('run-3', toSource(plain, author)),
  'gone.json': await formatEvidenceFile('run-3', toSource({ ...plain, content: new Map() }, author)),
  'uncounted.json': await formatEvidenceFile('run-4', toSource(uncounted, author)),
  'bundle.sigstore.json': JSON.stringify(bundleBy(statement())),
  'stranger.pem': createPublicKey(signerKey).export({ format: 'pem', type: 'spki' }).toString(),
  'signer.pem': (await openUserSigningKey({ HOME: author.home })).publicKeyPem,
  people,
  'app.tgz': artifact,
};
for (const [name, content] of Object.entries(files)) writeFileSync(join(here.root, name), content);

async function verify(...argv: string[]): Promise<Loose> {
  const line = ['--json', 'verify', ...argv];
  const { code, out, err } = await runLine(line, commands, { cwd: here.root, env });
  return { code, err, ...JSON.parse(out) };
}

const by = ['--key', 'signer.pem'];

t.test('`--ledger-key` requires a log entry for a run as well as for a bundle', async (t) => {
  t.equal((await verify('unlogged.json', ...by)).code, 0, 'its contract asks for none');
  for (const more of [
    ['--ledger-key', vkey],
    ['--require', 'log'],
  ])
    t.match(
      await verify('unlogged.json', ...by, ...more),
      { code: 3, error: { code: 'VERIFY_NOTHING', details: { code: 'not-logged' } } },
      more.join(' '),
    );
  const bundle = ['bundle.sigstore.json', '--key', 'stranger.pem', '--artifact', 'app.tgz'];
  t.equal((await verify(...bundle)).code, 0);
  t.match(await verify(...bundle, '--ledger-key', vkey), {
    code: 3,
    error: { details: { code: 'not-logged' } },
  });
  t.match(await verify(...bundle, '--require', 'log'), {
    code: 3,
    error: { details: { code: 'not-logged' } },
  });
});

t.test('a run with unverified approvals gives a warning and fails `--require approvals`', async (t) => {
  const loud = await verify('approved.json', ...by);
  t.match(loud, {
    code: 0,
    data: { warnings: [{ code: 'APPROVALS_UNVERIFIED', target: 'approved.json' }] },
  });
  t.match(loud.err, /warning: approved\.json: people had to approve .* NOT verified/);
  const refused = await verify('approved.json', ...by, '--require', 'approvals');
  t.match(refused, { code: 3, error: { details: { check: 'approvals', code: 'per-repository' } } });
  t.match(refused.error.hints, [/--allowed-signers/]);
  const judged = await verify(
    'approved.json',
    ...by,
    '--require',
    'approvals',
    '--allowed-signers',
    'people',
  );
  t.equal(judged.code, 0, judged.error?.message);
  t.notOk(judged.data.warnings);
  const nobody = await verify('plain.json', ...by, '--require', 'approvals', '--allowed-signers', 'people');
  t.match(
    nobody,
    { code: 3, error: { details: { check: 'approvals', code: 'missing' } } },
    'nobody approved it at all',
  );
  const signers = ['--allowed-signers', 'people'];
  t.equal((await verify('uncounted.json', ...by, ...signers)).code, 0, 'nobody was asked');
  t.match(
    await verify('uncounted.json', ...by, ...signers, '--require', 'approvals'),
    { code: 3, error: { details: { check: 'approvals', code: 'missing' } } },
    'what does not count is nobody',
  );
});

t.test('a requirement that the target cannot meet is not verified', async (t) => {
  const bundle = ['bundle.sigstore.json', '--key', 'stranger.pem', '--artifact', 'app.tgz'];
  for (const word of ['approvals', 'replay', 'approvals,replay'])
    t.match(
      await verify(...bundle, '--require', word),
      { code: 3, error: { details: { code: 'missing' } } },
      word,
    );
  const replayed = await verify('plain.json', ...by, '--require', 'replay');
  t.notOk(replayed.code === 0, 'these inputs lead nowhere');
  t.ok(
    replayed.data.checks.some(({ id }: Loose) => id === 'replay'),
    'it was replayed',
  );
});

t.test('expired content that only the signer vouches for gives a warning', async (t) => {
  const gone = await verify('gone.json', ...by);
  t.match(gone, { code: 0, data: { warnings: [{ code: 'CONTENT_EXPIRED', message: /signer's own word/ }] } });
  t.notOk((await verify('plain.json', ...by)).data.warnings, 'and not where it is there');
});

t.test('`--allowed-signers` gives a warning only for a target without approvals', async (t) => {
  const signers = ['--allowed-signers', 'people'];
  const bundle = ['bundle.sigstore.json', '--key', 'stranger.pem', '--artifact', 'app.tgz'];
  const loud = await verify(...bundle, ...signers);
  t.match(loud, { code: 0, data: { warnings: [{ code: 'OPTION_WITHOUT_EFFECT' }] } });
  t.match(loud.err, /warning: bundle\.sigstore\.json: `--allowed-signers` says nothing about this/);
  t.equal((await verify(...bundle, ...signers, '--require', 'approvals')).code, 3);
  const run = await verify('approved.json', ...by, ...signers);
  t.notOk(run.data.warnings, 'of a run it is what judges');
  t.notOk((await verify(...bundle)).data.warnings);
});

t.test('an unknown `--require` word is a usage error that lists the known words', async (t) => {
  for (const word of ['approval', 'log,', 'log approvals'])
    t.match(await verify('plain.json', ...by, '--require', word), {
      code: 129,
      error: { code: 'USAGE', message: /`approvals`, `log`, `replay`/ },
    });
});
