import { createPublicKey, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { attestPlugin } from '../../../attest/attestor/plugin.ts';
import { generateKey } from '../../../attest/keys/key-signer.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { SealingPlace } from '../../../core/contract/sealing-place.ts';
import { createEngine } from '../../../core/kernel/engine.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { signerFormsOf } from '../../../engine/config/signer-section.ts';
import { contractRows } from '../../../engine/spec/contract-rows.ts';
import { keyKinds, makeKey, withoutSshKeygen } from '../approval/ssh-tools.ts';
import { serveAuthorities, tokenOf } from './authorities.ts';
import { startAgent } from './start-agent.ts';

/** A key of one form: as a configuration asks for it, and what it is opened with. */
interface Asked {
  readonly line: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly place?: SealingPlace;
}

const pem = (): string => generateKey('ed25519').export({ type: 'pkcs8', format: 'pem' }).toString();

/** Every source of keys, by its name in the slot. */
const ways: Readonly<Record<string, (t: Test, home: string) => Promise<Asked> | Asked>> = {
  default: () => ({ line: '' }),
  file(_, home) {
    writeFileSync(join(home, 'key.pem'), pem(), { mode: 0o600 });
    return { line: 'key = "file:~/key.pem"' };
  },
  env: () => ({ line: 'key = "env:KEY"', env: { KEY: pem() } }),
  ssh(_, home) {
    makeKey(home, 'id', keyKinds.ed25519);
    return { line: 'key = "ssh:~/id"' };
  },
  async agent(t, home) {
    const agent = await startAgent(t);
    agent.add(makeKey(home, 'id', keyKinds.ed25519));
    return { line: 'key = "agent"', env: { SSH_AUTH_SOCK: agent.SSH_AUTH_SOCK } };
  },
  async keyless(t) {
    const authorities = await serveAuthorities(t);
    const line = `key = "keyless"\nfulcio_url = "${authorities.url}"`;
    return { line, env: { SIGSTORE_ID_TOKEN: tokenOf() }, place: authorities.place() };
  },
};
const needSsh: readonly string[] = ['ssh', 'agent'];

async function engineOf(env: Readonly<Record<string, string>>) {
  return createEngine({
    plugins: [attestPlugin({ env, ephemeralKey: false })],
    rows: contractRows,
    env,
    report: () => {},
  });
}

t.test('every source in the slot is held to what a signer promises', async (t) => {
  await using engine = await engineOf({ HOME: t.testdir() });
  t.strictSame([...engine.slots.signer.names].sort(), Object.keys(ways).sort());
});

for (const [name, way] of Object.entries(ways)) {
  t.test(
    `${name}: a configured key signs what its public key verifies`,
    { skip: needSsh.includes(name) && withoutSshKeygen },
    async (t) => {
      const home = t.testdir();
      const { line, env = {}, place } = await way(t, home);
      await using engine = await engineOf({ HOME: home, ...env });
      const { signer: slot } = engine.slots;
      const { key } = parseConfig(Buffer.from(`[signer]\n${line}`), {
        signers: await signerFormsOf(slot),
      }).signer;
      t.equal(key.form, name, 'the form of a key is the name of its source');
      const source = await slot.pick(key.form);
      const signer = await source.open(key, place);
      const data = Buffer.from('what is signed');
      const signature = await signer.sign(data);
      const publicKey = createPublicKey(signer.publicKeyPem);
      const isEcdsa = signer.algorithm === 'ecdsa-p256-sha256';
      t.ok(verify(isEcdsa ? 'sha256' : null, data, publicKey, signature));
      t.notOk(verify(isEcdsa ? 'sha256' : null, Buffer.from('other'), publicKey, signature));
      t.equal(signer.keyId, sha256Hex(publicKey.export({ type: 'spki', format: 'der' })));
      t.equal(signer.ephemeral, false);
      t.notMatch(JSON.stringify(signer), /PRIVATE/);
      if (name === 'keyless') return;
      const again = await source.open(key, place);
      t.equal(again.keyId, signer.keyId, 'the same key, opened again');
    },
  );
}
