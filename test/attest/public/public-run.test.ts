import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { gitEvidence } from '../../../api/verify/git-evidence.ts';
import { parseBundle } from '../../../attest/bundle/bundle.ts';
import { openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { noMemory as memory } from '../../../attest/log/checkpoint-memory.ts';
import { createPublicLog } from '../../../attest/public/public-log-source.ts';
import { parseTrustedRoot, publicLogsOf } from '../../../attest/public/trusted-root.ts';
import { type Anchors, loadAnchors } from '../../../attest/verify/anchors.ts';
import type { VerifyReport } from '../../../attest/verify/report.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { fixtures, makeSample, type Sample } from '../../engine/sample.ts';
import { makeMachine, removeMachines, sealRun, toSource } from '../verify/sealed-run.ts';
import { serveV1, serveV2, type TestLog } from './log-servers.ts';

t.teardown(removeMachines);

const source = {
  kind: 'patch',
  bytes: readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff')),
} as const;
const contract = { provenance: { transparencyLog: { mode: 'public-log' } } };

/** A repository whose base names that log. */
function sampleWith(t: Test, log: TestLog, api: 'v1' | 'v2', more = ''): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ', 'trust'), { recursive: true });
  writeFileSync(join(sample.root, '.writ', 'trust', 'root.json'), log.trustedRoot);
  const config = `[log]\nurl = "${log.url}"\napi = "${api}"\ntrusted_root = ".writ/trust/root.json"\n${more}`;
  writeFileSync(join(sample.root, '.writ', 'config.toml'), config);
  sample.git('add', '--force', '.writ');
  sample.git('commit', '--quiet', '-m', 'Log');
  return sample;
}

async function verify(sample: Sample, view: RunView, anchors: Anchors): Promise<VerifyReport> {
  const repository = await openRepository(sample.root);
  const { store } = await findRun(builtInStores, repository, systemClock, view.runId);
  const commit = sample.git('rev-parse', 'main');
  const evidence = await gitEvidence(repository, store, view.runId, commit);
  if (!evidence) throw new Error('no evidence');
  return verifyRun(evidence, anchors, { clock: systemClock, memory });
}

/** What a stranger has: the signer's key, and their own copy of a trusted root. */
async function strangerOf(t: Test, signerHome: string, trustedRoot: string | undefined): Promise<Anchors> {
  const home = t.testdir({
    'key.pem': (await openUserSigningKey({ HOME: signerHome })).publicKeyPem,
    'root.json': trustedRoot ?? '',
  });
  return loadAnchors(
    {
      keyFiles: [join(home, 'key.pem')],
      ledgerKeys: [],
      ...(trustedRoot === undefined ? {} : { trustedRoot: join(home, 'root.json') }),
    },
    { HOME: home },
  );
}

const reasons = (report: VerifyReport): readonly string[] =>
  report.checks.flatMap(({ id, code }) => (code === undefined ? [] : [`${id} ${code}`]));

for (const api of ['v1', 'v2'] as const)
  t.test(
    `a set logged to Rekor ${api} verifies offline, only with the trusted root of the verifier`,
    async (t) => {
      const serveLog = api === 'v1' ? serveV1 : serveV2;
      const [log, stranger] = [await serveLog(t), await serveLog(t)];
      const machine = makeMachine();
      const trustedRoot = Buffer.from(log.trustedRoot);
      const logs = publicLogsOf(parseTrustedRoot(trustedRoot));
      const sealed = await sealRun(machine, {
        log: (signer) =>
          createPublicLog({ url: log.url, api, trustedRoot, logs, signer, memory, clock: systemClock }),
      });
      const asked = log.asked.length;
      const report = async (root: string | undefined) =>
        verifyRun(toSource(sealed), await strangerOf(t, machine.home, root), { clock: systemClock, memory });
      t.strictSame(reasons(await report(log.trustedRoot)), []);
      for (const root of [stranger.trustedRoot, undefined]) {
        const refused = await report(root);
        t.notOk(refused.verified);
        t.strictSame(reasons(refused), [
          'log-inclusion untrusted-log',
          'log-proof untrusted-log',
          'log-history not-run',
        ]);
      }
      t.equal(log.asked.length, asked, 'nobody was asked');
      const kept = parseBundle(sealed.run.get('provenance.sigstore.json') ?? Buffer.alloc(0));
      t.equal(kept.proof?.promise === undefined, api === 'v2');
    },
  );

t.test('a run is logged where its base configures and verifies from git alone', async (t) => {
  const log = await serveV2(t);
  const sample = sampleWith(t, log, 'v2');
  const view = await sample.run({ source }, contract);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(log.asked.length, 1);
  const report = await verify(sample, view, await strangerOf(t, sample.home, log.trustedRoot));
  t.strictSame(reasons(report), []);
  t.ok(report.verified);
});

t.test('a run whose signatures could never be verified is refused before any work', async (t) => {
  const log = await serveV2(t);
  const pem = join(t.testdir({}), 'ed25519.pem');
  const { generateKey } = await import('../../../attest/keys/key-signer.ts');
  writeFileSync(pem, generateKey('ed25519').export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const sample = sampleWith(t, log, 'v2', `[signer]\nkey = "file:${pem}"\n`);
  await t.rejects(sample.run({ source }, contract), { code: 'KEY_UNUSABLE', message: /handed a digest/ });
  t.equal(sample.git('for-each-ref', 'refs/ai'), '');
  t.equal(log.asked.length, 0);
});
