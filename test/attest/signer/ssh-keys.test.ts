import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { inTotoPayloadType, signEnvelope, verifyEnvelope } from '../../../attest/encoding/dsse.ts';
import { keyIdOf, parsePublicKey } from '../../../attest/encoding/public-key.ts';
import { openAgentKey, toPlainSignature } from '../../../attest/signer/agent-key.ts';
import { instant } from '../../waiting/instant.ts';
import { keyKinds, makeKey, wire, withoutSshKeygen } from '../approval/ssh-tools.ts';
import { createSignerSource } from './signer-source.ts';
import { startAgent } from './start-agent.ts';

/**
 * Commands of docs/reference/signing.md by which a verifier makes PEM of a public key; ssh-keygen itself knows no such form of
 * Ed25519.
 */
const documented = [
  ...readFileSync(new URL('../../../docs/reference/signing.md', import.meta.url), 'utf8').matchAll(
    /^```sh pem\n([\s\S]+?)```/gm,
  ),
].map((match) => match[1] ?? '');

const pemOf = (file: string): string => {
  const isEcdsa = readFileSync(`${file}.pub`, 'utf8').startsWith('ecdsa-');
  const command = documented[isEcdsa ? 0 : 1] ?? 'false';
  return spawnSync('sh', ['-c', command.replaceAll('KEY.pub', `${file}.pub`)]).stdout.toString();
};

const fingerprintOf = (file: string): string =>
  spawnSync('ssh-keygen', ['-l', '-f', `${file}.pub`])
    .stdout.toString()
    .split(' ')[1] ?? '';

t.test(
  'keys in a real agent sign plain DSSE that their exported PEM verifies',
  { skip: withoutSshKeygen },
  async (t) => {
    const dir = t.testdir({ keys: {} });
    const keys = join(dir, 'keys');
    const ed25519 = makeKey(keys, 'ed25519');
    const ecdsa = makeKey(keys, 'ecdsa', keyKinds['ecdsa-256']);
    const rsa = makeKey(keys, 'rsa', keyKinds['rsa-2048']);
    await t.test('signing', async (t) => {
      const agent = await startAgent(t);
      const source = createSignerSource({
        env: { SSH_AUTH_SOCK: agent.SSH_AUTH_SOCK },
        ephemeral: false,
      });
      await t.rejects(
        source.open({ form: 'agent', wanted: undefined }),
        { code: 'KEY_UNUSABLE' },
        'an empty agent',
      );
      agent.add(rsa);
      for (const wanted of [undefined, 'rsa', fingerprintOf(rsa)])
        await t.rejects(source.open({ form: 'agent', wanted }), { code: 'KEY_UNUSABLE', message: /ssh-rsa/ });
      agent.add(ecdsa);
      const only = await source.open({ form: 'agent', wanted: undefined });
      t.equal(only.algorithm, 'ecdsa-p256-sha256', 'RSA beside it is in nobody’s way');
      agent.add(ed25519);
      await t.rejects(source.open({ form: 'agent', wanted: undefined }), {
        code: 'KEY_UNUSABLE',
        message: /2 suitable keys/,
        hints: [/agent:SHA256/],
      });
      await t.rejects(source.open({ form: 'agent', wanted: 'nobody' }), { code: 'KEY_UNUSABLE' });
      for (const [file, name] of [
        [ed25519, 'ed25519'],
        [ecdsa, 'ecdsa'],
      ] as const) {
        const pinned = parsePublicKey(pemOf(file));
        for (const wanted of [name, fingerprintOf(file)]) {
          const signer = await source.open({ form: 'agent', wanted });
          t.equal(signer.keyId, keyIdOf(pinned), 'the key id is that of the PEM');
          // Numbers with a leading one or zero octet come up within a few tries.
          for (let n = 0; n < 24; n++) {
            const envelope = await signEnvelope(inTotoPayloadType, Buffer.from(`{"n":${n}}`), signer);
            verifyEnvelope(envelope, pinned);
          }
        }
      }
      const large = await source.open({ form: 'agent', wanted: 'ed25519' });
      await t.rejects(large.sign(Buffer.alloc(300_000)), { code: 'SIGNER_FAILED', message: /262144/ });
      agent.add('-D');
      await t.rejects(large.sign(Buffer.from('x')), { code: 'SIGNER_FAILED' }, 'a key that was taken away');
    });
  },
);

t.test(
  'an OpenSSH key file signs unless it is locked, of another type or accessible to others',
  { skip: withoutSshKeygen },
  async (t) => {
    const dir = t.testdir();
    const source = createSignerSource({ env: { HOME: dir }, ephemeral: false });
    const open = (path: string) => source.open({ form: 'ssh', path });
    for (const kind of ['ed25519', 'ecdsa-256'] as const) {
      const file = makeKey(dir, kind, keyKinds[kind]);
      const pinned = parsePublicKey(pemOf(file));
      const signer = await open(`~/${kind}`);
      t.equal(signer.keyId, keyIdOf(pinned));
      verifyEnvelope(await signEnvelope(inTotoPayloadType, Buffer.from('{}'), signer), pinned);
      t.notOk(signer.ephemeral);
    }
    const locked = makeKey(dir, 'locked', keyKinds.ed25519, 'secret words');
    await t.rejects(open(locked), { code: 'KEY_UNUSABLE', message: /passphrase/, hints: [/ssh-add/] });
    for (const kind of ['rsa-2048', 'ecdsa-384'] as const)
      await t.rejects(open(makeKey(dir, kind, keyKinds[kind])), {
        code: 'KEY_UNUSABLE',
        message: /expected ssh-ed25519/,
      });
    await t.rejects(open(join(dir, 'absent')), { code: 'KEY_UNUSABLE' });
    await t.rejects(
      open(join(dir, 'ed25519.pub')),
      { code: 'KEY_INSECURE' },
      'a public key that all may read',
    );
    symlinkSync(join(dir, 'ed25519'), join(dir, 'link'));
    await t.rejects(open(join(dir, 'link')), { code: 'KEY_INSECURE' });
    chmodSync(join(dir, 'ed25519'), 0o640);
    await t.rejects(open(join(dir, 'ed25519')), { code: 'KEY_INSECURE' });
    chmodSync(join(dir, 'ed25519'), 0o600);

    const text = readFileSync(join(dir, 'ed25519'), 'utf8');
    const octets = Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64');
    const put = (name: string, body: Uint8Array): string => {
      const lines =
        Buffer.from(body)
          .toString('base64')
          .match(/.{1,70}/g) ?? [];
      writeFileSync(
        join(dir, name),
        ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n'),
        { mode: 0o600 },
      );
      return join(dir, name);
    };
    t.ok(await open(put('whole', octets)), 'the armour of these cases is sound');
    const other = Buffer.from(
      readFileSync(makeKey(dir, 'other'), 'utf8').split('\n').slice(1, -2).join(''),
      'base64',
    );
    // The stated public key stands at the same place in both files.
    const mixed = Buffer.concat([other.subarray(0, 98), octets.subarray(98)]);
    const flippedSeed = Buffer.from(octets);
    flippedSeed[170] = (flippedSeed[170] ?? 0) ^ 1;
    const cases = {
      mixed,
      flippedSeed,
      short: octets.subarray(0, -20),
      empty: Buffer.of(0),
      noise: Buffer.alloc(400, 7),
    };
    for (const [name, body] of Object.entries(cases)) {
      const fault = await open(put(name, body)).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      t.match(fault, { code: 'KEY_UNUSABLE' }, name);
      t.notMatch(
        JSON.stringify([fault, (fault as Error).message]),
        octets.subarray(160, 190).toString('base64').slice(0, 20),
      );
    }
  },
);

/** An agent made by hand: `answer` gets each message and says the octets that come back. */
async function handAgent(
  t: Test,
  answer: (message: Buffer, socket: Socket) => Buffer | undefined,
): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'writ-agent-'));
  const path = join(dir, 'hand');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (message) => {
      const reply = answer(message, socket);
      if (reply) socket.write(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return path;
}

t.test(
  'an agent that sends its response byte by byte is understood',
  { skip: withoutSshKeygen },
  async (t) => {
    const dir = t.testdir({ keys: {} });
    const file = makeKey(join(dir, 'keys'), 'stated');
    const blob = Buffer.from(readFileSync(`${file}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    const answer = wire(Buffer.concat([Buffer.from('0c00000001', 'hex'), wire(blob, 'stated')]));
    const SSH_AUTH_SOCK = await handAgent(t, (_, socket) => {
      socket.setNoDelay(true);
      void (async () => {
        for (const octet of answer) {
          await new Promise((sent) => socket.write(Buffer.of(octet), sent));
          await instant(2);
        }
      })();
      return undefined;
    });
    t.match(await openAgentKey('stated', { SSH_AUTH_SOCK }), { algorithm: 'ed25519' });
  },
);

t.test('an agent that sends a wrong, truncated or oversized response is SIGNER_FAILED', async (t) => {
  const framed = (octets: Buffer): Buffer => wire(octets);
  const lies: Record<string, (message: Buffer, socket: Socket) => Buffer | undefined> = {
    'another answer': () => framed(Buffer.of(6)),
    refusal: () => framed(Buffer.of(5)),
    'a length of gigabytes': () => Buffer.from('ffffffff0c', 'hex'),
    'no octets at all': () => Buffer.alloc(4),
    'keys that are not there': () => framed(Buffer.from('0c00000002', 'hex')),
    'too many keys': () => framed(Buffer.from('0cffffffff', 'hex')),
    'octets after the end': () => Buffer.concat([framed(Buffer.from('0c00000000', 'hex')), Buffer.of(1)]),
    hangup: (_message, socket) => void socket.destroy(),
  };
  for (const [name, lie] of Object.entries(lies))
    await t.test(name, async (t) => {
      const SSH_AUTH_SOCK = await handAgent(t, lie);
      await t.rejects(openAgentKey(undefined, { SSH_AUTH_SOCK }), { code: 'SIGNER_FAILED' });
    });
  await t.rejects(openAgentKey(undefined, { SSH_AUTH_SOCK: '/nowhere' }), { code: 'SIGNER_FAILED' });
  await t.rejects(openAgentKey(undefined, {}), { code: 'KEY_UNUSABLE', message: /SSH_AUTH_SOCK/ });
});

t.test(
  'a signature by another key of the agent is refused before it is returned',
  { skip: withoutSshKeygen },
  async (t) => {
    const dir = t.testdir({ keys: {} });
    const file = makeKey(join(dir, 'keys'), 'stated');
    const blob = Buffer.from(readFileSync(`${file}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    await t.test('lying', async (t) => {
      const SSH_AUTH_SOCK = await handAgent(t, (message) =>
        message[4] === 11
          ? wire(Buffer.concat([Buffer.from('0c00000001', 'hex'), wire(blob, 'stated')]))
          : wire(Buffer.concat([Buffer.of(14), wire(wire('ssh-ed25519', Buffer.alloc(64, 1)))])),
      );
      const signer = await openAgentKey('stated', { SSH_AUTH_SOCK });
      await t.rejects(signer.sign(Buffer.from('x')), { code: 'SIGNER_FAILED', message: /does not verify/ });
    });
  },
);

t.test('ECDSA numbers are encoded as minimal DER, padded where the first bit is set', async (t) => {
  const high = Buffer.concat([Buffer.of(0), Buffer.alloc(32, 0xff)]);
  const low = Buffer.of(0x7f);
  const der = toPlainSignature(wire('ecdsa-sha2-nistp256', wire(high, low)), 'ecdsa-sha2-nistp256');
  t.equal(der?.toString('hex'), `3026022100${'ff'.repeat(32)}02017f`);
  t.equal(toPlainSignature(wire('ssh-rsa', Buffer.alloc(64)), 'ssh-ed25519'), undefined);
  const negative = wire('ecdsa-sha2-nistp256', wire(Buffer.of(0x80), low));
  t.equal(toPlainSignature(negative, 'ecdsa-sha2-nistp256'), undefined);
});
