import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseSshSignature, refuteSshSignature } from '../../../attest/approval/sshsig.ts';
import { isWritError } from '../../../core/base/errors.ts';
import {
  armour,
  flipped,
  keyKinds,
  makeKey,
  publicOf,
  sshSign,
  sshVerify,
  unarmoured,
  wire,
  withoutSshKeygen,
} from './ssh-tools.ts';

const dir = mkdtempSync(join(tmpdir(), 'writ-sshsig-'));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const namespace = 'some-product@v1';
const message = Buffer.from('what is signed\n');

/** Our verdict in one word. */
function ours(armoured: string, about: Uint8Array = message, within = namespace): string {
  try {
    return refuteSshSignature(parseSshSignature(armoured), within, about)?.status ?? 'good';
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return fault.code;
  }
}

t.test('signatures by ssh-keygen verify for every key type', { skip: withoutSshKeygen }, async (t) => {
  for (const [name, kind] of Object.entries(keyKinds)) {
    await t.test(`${name}: writ and ssh-keygen accept and refuse the same signatures`, async (t) => {
      const file = makeKey(dir, name, kind);
      const good = sshSign(file, message, namespace);
      const allowed = `me ${publicOf(file)}\n`;
      const theirs = (signature: string, about: Uint8Array = message, within = namespace) =>
        sshVerify(dir, { allowed, principal: 'me', namespace: within, signature, message: about });
      t.equal(ours(good), 'good');
      t.ok(theirs(good));
      t.equal(ours(good.replaceAll('\n', '\r\n')), 'good', 'CRLF');
      t.equal(ours(sshSign(file, message, namespace, ['-Ohashalg=sha256'])), 'good', 'hash sha256');
      t.equal(ours(good, Buffer.from('another')), 'bad-signature');
      t.notOk(theirs(good, Buffer.from('another')));
      t.equal(ours(good, message, 'file'), 'wrong-namespace');
      t.notOk(theirs(good, message, 'file'));
      const octets = unarmoured(good);
      const places = [0, 7, 9, 15, 40, octets.length - 1, octets.length - 40];
      for (const at of places) {
        t.not(ours(flipped(good, at)), 'good', `octet ${at}`);
        t.notOk(theirs(flipped(good, at)), `octet ${at}, ssh-keygen`);
      }
      for (const bad of [octets.subarray(0, -1), Buffer.concat([octets, Buffer.alloc(1)])]) {
        t.equal(ours(armour(bad)), 'ATTESTATION_MALFORMED', `${bad.length} octets`);
        t.notOk(theirs(armour(bad)), `${bad.length} octets, ssh-keygen`);
      }
    });
  }

  t.test('a change of any byte of a signature is detected', async (t) => {
    const good = sshSign(makeKey(dir, 'each'), message, namespace);
    const { length } = unarmoured(good);
    const taken = Array.from({ length }, (_, at) => at).filter((at) => ours(flipped(good, at)) === 'good');
    t.strictSame(taken, []);
  });

  t.test('a signature by a 1024-bit RSA key is refused', async (t) => {
    const weak = makeKey(dir, 'weak', ['-t', 'rsa', '-b', '1024']);
    t.equal(ours(sshSign(weak, message, namespace)), 'KEY_UNUSABLE');
  });
});

/** SSHSIG by hand, for what ssh-keygen does not make here. */
function handMade(publicKey: Buffer, makeSignature: (signed: Buffer) => Buffer, reserved = ''): string {
  const digest = createHash('sha512').update(message).digest();
  const signed = Buffer.concat([Buffer.from('SSHSIG'), wire(namespace, '', 'sha512', digest)]);
  const head = Buffer.concat([Buffer.from('SSHSIG'), Buffer.from([0, 0, 0, 1])]);
  return armour(Buffer.concat([head, wire(publicKey, namespace, reserved, 'sha512', makeSignature(signed))]));
}

function securityKey(kind: 'ed25519' | 'ecdsa') {
  const { publicKey, privateKey } =
    kind === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const x = Buffer.from(jwk.x ?? '', 'base64url');
  const type = kind === 'ed25519' ? 'sk-ssh-ed25519@openssh.com' : 'sk-ecdsa-sha2-nistp256@openssh.com';
  const point = Buffer.concat([Buffer.from([4]), x, Buffer.from(jwk.y ?? '', 'base64url')]);
  const blob = kind === 'ed25519' ? wire(type, x, 'ssh:') : wire(type, 'nistp256', point, 'ssh:');
  const signWith = (flags: number, application = 'ssh:', more = Buffer.alloc(0)) =>
    handMade(blob, (signed) => {
      const state = Buffer.from([flags, 0, 0, 0, 7]);
      const sha = (data: string | Buffer) => createHash('sha256').update(data).digest();
      const device = Buffer.concat([sha(application), state, sha(signed)]);
      return Buffer.concat([wire(type, rawSignature(privateKey, device)), state, more]);
    });
  return { line: `me ${type} ${blob.toString('base64')}\n`, signWith };
}

function rawSignature(key: KeyObject, data: Buffer): Buffer {
  if (key.asymmetricKeyType === 'ed25519') return sign(null, data, key);
  const pair = sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
  return wire(mpint(pair.subarray(0, 32)), mpint(pair.subarray(32)));
}

function mpint(octets: Buffer): Buffer {
  const start = octets.findIndex((octet) => octet !== 0);
  const bare = octets.subarray(start);
  return (bare[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bare]) : bare;
}

t.test('a security key signature counts only if the key was touched', async (t) => {
  for (const kind of ['ed25519', 'ecdsa'] as const) {
    const { line, signWith } = securityKey(kind);
    const touched = signWith(0x01);
    t.equal(ours(touched), 'good', kind);
    t.equal(ours(signWith(0x05)), 'good', `${kind}, verified user`);
    t.equal(ours(signWith(0x00)), 'bad-signature', `${kind}, nobody there`);
    t.equal(ours(signWith(0x01, 'ssh:other')), 'bad-signature', `${kind}, another application`);
    t.equal(ours(touched, Buffer.from('another')), 'bad-signature');
    const longer = signWith(0x01, 'ssh:', Buffer.alloc(1));
    t.equal(ours(longer), 'bad-signature', `${kind}, more after the counter`);
    if (withoutSshKeygen !== false) continue;
    const oracle = (signature: string, about: Uint8Array = message) =>
      sshVerify(dir, { allowed: line, principal: 'me', namespace, signature, message: about });
    t.ok(oracle(touched), `${kind}, ssh-keygen`);
    t.notOk(oracle(signWith(0x01, 'ssh:other')), `${kind}, ssh-keygen`);
    t.notOk(oracle(touched, Buffer.from('another')), `${kind}, ssh-keygen`);
    t.notOk(oracle(longer), `${kind}, ssh-keygen`);
  }
});

t.test('RSA with SHA-1, or with an algorithm that does not fit the key, is refused', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' });
  const number = (text = '') => mpint(Buffer.from(text, 'base64url'));
  const blob = wire('ssh-rsa', number(jwk.e), number(jwk.n));
  const made = (algorithm: string, hash: string) =>
    handMade(blob, (signed) => wire(algorithm, sign(hash, signed, privateKey)));
  t.equal(ours(made('rsa-sha2-512', 'sha512')), 'good');
  t.equal(ours(made('rsa-sha2-256', 'sha256')), 'good');
  t.equal(ours(made('ssh-rsa', 'sha1')), 'bad-signature');
  t.equal(ours(made('rsa-sha2-512', 'sha1')), 'bad-signature');
  t.equal(ours(made('ssh-ed25519', 'sha512')), 'bad-signature');
  const keyed = (e: Buffer, n: Buffer) =>
    ours(
      handMade(wire('ssh-rsa', e, n), (signed) => wire('rsa-sha2-512', sign('sha512', signed, privateKey))),
    );
  const even = Buffer.from(number(jwk.n));
  even[even.length - 1] = (even.at(-1) ?? 0) & 0xfe;
  t.equal(keyed(number(jwk.e), even), 'KEY_UNUSABLE', 'an even modulus');
  t.equal(keyed(Buffer.from([1]), number(jwk.n)), 'KEY_UNUSABLE', 'an exponent with which anybody signs');
  t.equal(keyed(Buffer.from([4]), number(jwk.n)), 'KEY_UNUSABLE', 'an even exponent');
  const padded = Buffer.concat([Buffer.alloc(1), number(jwk.n)]);
  t.equal(keyed(number(jwk.e), padded), 'ATTESTATION_MALFORMED', 'the same key under another fingerprint');
  t.equal(keyed(number(jwk.e), number(jwk.n).subarray(1)), 'ATTESTATION_MALFORMED', 'a negative modulus');
});

t.test('a malformed signature is refused with an error code', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const signed = (data: Buffer) => wire('ssh-ed25519', sign(null, data, privateKey));
  const blob = wire('ssh-ed25519', x);
  const good = handMade(blob, signed);
  t.equal(ours(good), 'good');
  t.equal(ours(handMade(blob, signed, 'x')), 'ATTESTATION_MALFORMED', 'something in the reserved field');
  t.equal(
    ours(handMade(Buffer.concat([blob, Buffer.alloc(1)]), signed)),
    'ATTESTATION_MALFORMED',
    'a longer key',
  );
  t.equal(ours(handMade(wire('ssh-dss', x), signed)), 'KEY_UNUSABLE');
  t.equal(ours(handMade(wire('ssh-ed25519-cert-v01@openssh.com', x), signed)), 'KEY_UNUSABLE');
  t.equal(ours(handMade(wire('ssh-ed25519', x.subarray(1)), signed)), 'KEY_UNUSABLE');
  t.equal(ours(handMade(blob, (data) => wire('ssh-ed25519', signed(data)))), 'bad-signature');
  t.equal(ours(handMade(blob, () => Buffer.alloc(0))), 'bad-signature');
  const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]);
  t.equal(
    ours(handMade(wire('ecdsa-sha2-nistp256', 'nistp256', point), signed)),
    'KEY_UNUSABLE',
    'off the curve',
  );
  const onCurve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const real = Buffer.concat([
    Buffer.from([4]),
    ...[onCurve.x, onCurve.y].map((part = '') => Buffer.from(part, 'base64url')),
  ]);
  t.equal(
    ours(handMade(wire('ecdsa-sha2-nistp256', 'nistp256', real), signed)),
    'bad-signature',
    'a key, not its signature',
  );
  t.equal(
    ours(handMade(wire('ecdsa-sha2-nistp256', 'nistp384', real), signed)),
    'KEY_UNUSABLE',
    'another curve by name',
  );
  const longer = (data: Buffer) => Buffer.concat([signed(data), Buffer.alloc(1)]);
  t.equal(ours(handMade(blob, longer)), 'bad-signature', 'more after the signature');
  t.equal(
    ours(good.replace('\n', '\n'.repeat(20_000))),
    'ATTESTATION_MALFORMED',
    'longer than any signature',
  );
  const version2 = unarmoured(good);
  version2[9] = 2;
  t.equal(ours(armour(version2)), 'ATTESTATION_MALFORMED');
  for (const text of [
    '',
    'x',
    good.slice(1),
    good.replace('BEGIN', 'START'),
    `${good}x`,
    `x${good}`,
    good.replace('=', ''),
  ])
    t.equal(ours(text.padEnd(20)), 'ATTESTATION_MALFORMED', text.slice(0, 40));
  t.equal(
    ours(armour(Buffer.concat([unarmoured(good), Buffer.alloc(20_000)]))),
    'ATTESTATION_MALFORMED',
    'too long',
  );
  t.equal(ours(armour(Buffer.alloc(0))), 'ATTESTATION_MALFORMED');
});
