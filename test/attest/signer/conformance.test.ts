import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { attestPlugin } from '../../../attest/attestor/plugin.ts';
import { generateKey } from '../../../attest/keys/key-signer.ts';
import { publicLogMode, readPublicLogSection } from '../../../attest/log/log-sections.ts';
import { createEngine } from '../../../core/kernel/engine.ts';
import { contractRows } from '../../../spec/contract-rows.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { keyKinds, makeKey, withoutSshKeygen } from '../approval/ssh-tools.ts';
import { serveAuthorities, tokenOf } from './authorities.ts';
import { type SignerSubject, signerTester } from './signer-tester.ts';
import { startAgent } from './start-agent.ts';

/** A key of one form: as a configuration asks for it, and what it is opened with. */
interface Asked extends Pick<SignerSubject, 'signer' | 'perRun' | 'place'> {
  readonly env?: Readonly<Record<string, string>>;
}

const pem = (): string => generateKey('ed25519').export({ type: 'pkcs8', format: 'pem' }).toString();

/** Every source of keys, by its name in the slot. */
const ways: Readonly<Record<string, (t: Test, home: string) => Promise<Asked> | Asked>> = {
  default: () => ({ signer: '' }),
  file(_, home) {
    writeFileSync(join(home, 'key.pem'), pem(), { mode: 0o600 });
    return { signer: 'key = "file:~/key.pem"' };
  },
  env: () => ({ signer: 'key = "env:KEY"', env: { KEY: pem() } }),
  ssh(_, home) {
    makeKey(home, 'id', keyKinds.ed25519);
    return { signer: 'key = "ssh:~/id"' };
  },
  async agent(t, home) {
    const agent = await startAgent(t);
    agent.add(makeKey(home, 'id', keyKinds.ed25519));
    return { signer: 'key = "agent"', env: { SSH_AUTH_SOCK: agent.SSH_AUTH_SOCK } };
  },
  async keyless(t, home) {
    const { url, sealing } = await serveAuthorities(t);
    let made = 0;
    return {
      signer: `key = "keyless"\nfulcio_url = "${url}"`,
      env: { SIGSTORE_ID_TOKEN: tokenOf() },
      perRun: true,
      place: {
        ...sealing,
        logs: { [publicLogMode]: { readSection: readPublicLogSection } },
        logMode: 'public-log',
        repository() {
          made += 1;
          return makeRepository(join(home, `repository-${made}`)).dir;
        },
      },
    };
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

t.test('every signer source in the slot has a conformance test', async (t) => {
  await using engine = await engineOf({ HOME: t.testdir() });
  t.strictSame([...engine.slots.signer.names].sort(), Object.keys(ways).sort());
});

for (const [name, way] of Object.entries(ways)) {
  t.test(name, { skip: needSsh.includes(name) && withoutSshKeygen }, async (t) => {
    const home = t.testdir();
    const { env = {}, ...asked } = await way(t, home);
    await using engine = await engineOf({ HOME: home, ...env });
    await signerTester(t, { name, source: await engine.slots.signer.pick(name), ...asked });
  });
}
