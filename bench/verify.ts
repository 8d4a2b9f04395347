/* What verifying costs over the hashing and the signatures that it cannot do without. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseBundle } from '../attest/bundle/bundle.ts';
import { verifyEnvelope } from '../attest/encoding/dsse.ts';
import { openUserSigningKey } from '../attest/keys/key-signer.ts';
import { verifyCheckpoint } from '../attest/log/checkpoint.ts';
import { openUserLedger } from '../attest/log/internal-ledger-source.ts';
import { parseVkey } from '../attest/log/note.ts';
import { formatEvidenceFile } from '../attest/verify/evidence-file.ts';
import { sha256Hex } from '../core/base/canonical.ts';
import { systemClock } from '../core/base/clock.ts';
import { makeMachine, removeMachines, sealRun, toSource } from '../test/attest/verify/sealed-run.ts';
import { artifact, bundleBy, signerKey, statement } from '../test/attest/verify/strangers.ts';
import { figure, interleaved, timed } from './measure.ts';
import { sized } from './sized.ts';
import { stagePackage } from './stage-package.ts';
import { benchVerifyHead } from './verify-head.ts';

const bundles = sized(1000, 2);

/**
 * A run with 100 items of evidence against raw work plus `node -e 0`, and 1,000 bundles in one process; of the compiled
 * package.
 */
export async function benchVerify(launcher: string): Promise<boolean> {
  const machine = makeMachine();
  try {
    const own = { HOME: machine.home };
    const sealed = await sealRun(machine, { moreEvidence: 100 });
    const file = join(machine.root, 'evidence.json');
    writeFileSync(file, await formatEvidenceFile('run-1', toSource(sealed)));
    const env = {
      ...process.env,
      ...own,
      NODE_COMPILE_CACHE: mkdtempSync(join(tmpdir(), 'writ-bench-cache-')),
    };
    const node = (...args: string[]) =>
      execFileSync(process.execPath, args, { env, cwd: machine.root, stdio: 'ignore' });
    const signer = createPublicKey((await openUserSigningKey(own)).publicKeyPem);
    const ledger = parseVkey((await openUserLedger(machine.commonDir, own, systemClock).vkey()) ?? '');
    const raw = (): void => {
      for (const bytes of [...sealed.run.values(), ...sealed.content.values()]) sha256Hex(bytes);
      for (const [path, bytes] of sealed.run) {
        if (!path.endsWith('.sigstore.json')) continue;
        const { envelope, proof } = parseBundle(bytes);
        verifyEnvelope(envelope, signer);
        if (proof) verifyCheckpoint(proof.checkpoint, [ledger]);
      }
    };
    const works = { node: () => node('-e', '0'), verify: () => node(launcher, 'verify', file), raw };
    await interleaved(2, works);
    const times = await interleaved(15, works);
    const least = times.node + times.raw;
    const detail = `${times.verify.toFixed(0)} ms; node ${times.node.toFixed(0)} ms, raw ${times.raw.toFixed(1)} ms`;

    const pem = join(machine.root, 'signer.pem');
    writeFileSync(pem, createPublicKey(signerKey).export({ type: 'spki', format: 'pem' }));
    const app = join(machine.root, 'app.tgz');
    writeFileSync(app, artifact);
    const names = Array.from({ length: bundles }, (_, n) => join(machine.root, `${n}.sigstore.json`));
    for (const [n, name] of names.entries()) {
      const { predicate } = statement();
      writeFileSync(name, JSON.stringify(bundleBy(statement({ predicate: { ...predicate, n } }))));
    }
    const many = await timed(() =>
      node(launcher, 'verify', ...names, '--key', pem, '--artifact', app, '--quiet'),
    );
    const held = [
      figure('writ verify, 100 items / (node + raw work)', times.verify / least, 2, 'x', detail),
      figure(
        '1,000 bundles in one process, each',
        many / bundles,
        5,
        'ms',
        `${((bundles * 1000) / many).toFixed(0)} per second, start included`,
      ),
    ];
    return held.every(Boolean);
  } finally {
    removeMachines();
  }
}

if (import.meta.main) {
  const built = spawnSync('npm', ['run', '--silent', 'build'], {
    stdio: 'inherit',
    cwd: resolve(import.meta.dirname, '..'),
  });
  if (built.status !== 0) process.exit(1);
  const launcher = stagePackage();
  const held = [await benchVerify(launcher), await benchVerifyHead(launcher)];
  process.exit(held.every(Boolean) ? 0 : 1);
}
