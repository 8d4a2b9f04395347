import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { gitEvidence } from '../../../api/verify/git-evidence.ts';
import { readSeal } from '../../../attest/bundle/bundle.ts';
import { noMemory } from '../../../attest/log/checkpoint-memory.ts';
import { parseTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { verifySigner } from '../../../attest/verify/sealed-run.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { fixtures, makeSample, type Sample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { launcherOptions, writProgram as writ } from '../../starter/program.ts';
import {
  type Authorities,
  identity,
  issuer,
  serveAuthorities,
  serveStamper,
  tokenOf,
} from './authorities.ts';

const contract = {
  provenance: { transparencyLog: { mode: 'public-log' } },
  objmodel: { decisionPolicy: { rollbackOnProvenanceFail: true } },
};

/** A repository whose base names these authorities. */
function sampleWith(t: Test, { url, sealing }: Authorities): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  Object.assign(sample.env, { SIGSTORE_ID_TOKEN: tokenOf() });
  mkdirSync(join(sample.root, '.writ', 'trust'), { recursive: true });
  for (const [name, text] of Object.entries(sealing.files))
    writeFileSync(join(sample.root, '.writ', 'trust', name), text);
  const log = sealing.log.replace(/"(?=\w+\.json")/g, '".writ/trust/');
  const config = `[log]\n${log}\n[signer]\nkey = "keyless"\nfulcio_url = "${url}"\n`;
  writeFileSync(join(sample.root, '.writ', 'config.toml'), config);
  sample.git('add', '--force', '.writ');
  sample.git('commit', '--quiet', '-m', 'Keyless');
  return sample;
}

/** Runs the change in a process of its own. */
function start(sample: Sample): ChildProcess {
  const [spec, patch] = [join(sample.home, 'intent.json'), join(sample.home, 'change.diff')];
  writeFileSync(spec, sampleSpec(contract));
  cpSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), patch);
  return spawn(process.execPath, [...launcherOptions, writ, '--json', 'run', spec, '--patch', patch], {
    cwd: sample.root,
    env: sample.env,
    stdio: 'ignore',
  });
}

/** Everything that stands in plain files. */
function textBelow(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('\n');
}

async function resume(sample: Sample): Promise<RunView> {
  const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
  return await sample.resume(runId);
}

function anchorsOf({ root }: Authorities) {
  const trustedRoot = parseTrustedRoot(Buffer.from(root()));
  return { signers: [], ledgers: [], ownLedgers: [], trustedRoot, identity: { identity, issuer } };
}

async function evidenceOf(sample: Sample, view: RunView, commit: string) {
  const repository = await openRepository(sample.root);
  const { store } = await findRun(builtInStores, repository, systemClock, view.runId);
  const evidence = await gitEvidence(repository, store, view.runId, commit);
  if (!evidence) throw new Error('no evidence');
  return evidence;
}

long('a run killed before logging is sealed with the certificate of the user who resumes it', async (t) => {
  const authorities = await serveAuthorities(t);
  const sample = sampleWith(t, authorities);
  const child = start(sample);
  let killed = false;
  authorities.before(() => {
    if (!killed) child.kill('SIGKILL');
    killed = true;
  });
  await once(child, 'exit');
  t.ok(killed, 'it had asked for its certificate');
  const view = await resume(sample);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const evidence = await evidenceOf(sample, view, sample.git('rev-parse', 'main'));
  const report = await verifyRun(evidence, anchorsOf(authorities), {
    clock: systemClock,
    memory: noMemory,
  });
  t.strictSame(
    report.checks.flatMap(({ id, code }) => (code === undefined ? [] : [`${id} ${code}`])),
    [],
  );
  t.ok(report.verified);
  t.strictSame(report.grounds.signer, { identity, issuer });
});

for (const api of ['v1', 'v2'] as const)
  long(
    `a run killed while its provenance is logged in Rekor ${api} is rolled back and revoked`,
    async (t) => {
      const stamper = api === 'v1' ? undefined : await serveStamper(t);
      const authorities = await serveAuthorities(t, stamper && { stamper });
      const sample = sampleWith(t, authorities);
      const before = sample.git('rev-parse', 'main');
      const child = start(sample);
      let killed = false;
      authorities.log.lie((answer) => {
        if (killed) return answer;
        killed = true;
        child.kill('SIGKILL');
        return undefined;
      });
      await once(child, 'exit');
      t.ok(killed, 'the log had taken it');
      const kept = textBelow(join(sample.root, '.git', 'writ'));
      t.match(kept, /logging/, 'the journal was read');
      t.notMatch(kept, /PRIVATE KEY/);
      for (const part of (sample.env.SIGSTORE_ID_TOKEN ?? '').split('.')) t.notOk(kept.includes(part));
      const view = await resume(sample);
      t.equal(view.decision?.type, 'rollback');
      t.match(view.decision?.rationale, /certificate of this run is gone/);
      t.equal(sample.git('rev-parse', 'main'), before);
      t.equal(authorities.log.asked.length, 2, 'claim and revocation');
      t.equal(authorities.asked.length, 2);
      if (stamper) t.equal(stamper.asked.length, 2, 'a time stamp for each');
      const bytes = Buffer.from(sample.git('show', `refs/ai/runs/${view.runId}:revocation.sigstore.json`));
      const signer = await verifySigner(readSeal(bytes), anchorsOf(authorities));
      t.strictSame(signer.ground, { identity, issuer });
    },
  );

t.test(
  'a run in a Rekor v2 log is sealed with a time stamp, and without one it is rolled back',
  async (t) => {
    const stamper = await serveStamper(t);
    const authorities = await serveAuthorities(t, { stamper });
    const sample = sampleWith(t, authorities);
    const before = sample.git('rev-parse', 'main');
    const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
    stamper.lie(() => ({ status: 400 }));
    const refused = await sample.run({ source: { kind: 'patch', bytes } }, contract);
    t.equal(refused.decision?.type, 'rollback');
    t.match(refused.decision?.rationale, /time-stamp authority .* answered 400/);
    t.equal(sample.git('rev-parse', 'main'), before);
    t.equal(authorities.log.asked.length, 0, 'nothing was claimed');
    stamper.lie(async ({ bytes: asked }) => ({ status: 200, body: await stamper.reply(asked) }));
    const view = await sample.run({ source: { kind: 'patch', bytes } }, contract);
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    const evidence = await evidenceOf(sample, view, sample.git('rev-parse', 'main'));
    const report = await verifyRun(evidence, anchorsOf(authorities), {
      clock: systemClock,
      memory: noMemory,
    });
    t.ok(report.verified);
    t.strictSame(report.grounds.signer, { identity, issuer });
  },
);
