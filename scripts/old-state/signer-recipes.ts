import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';
import { type Recipe, runSample, sealedClaims } from './recipe.ts';

/** Sealed runs, one for each kind of key. */
export const signerRecipes: Readonly<Record<string, Recipe>> = {
  'sealed-own-key': {
    about: "a run sealed with the user's own key (ECDSA P-256)",
    sample: 3,
    async make(place) {
      return sealedClaims(await runSample(place));
    },
  },
  'sealed-file-ed25519': {
    about: 'a run sealed with an Ed25519 key in a PEM file',
    async make(place) {
      useSigner(place, 'file:~/release.pem');
      keyFile(place, generateKeyPairSync('ed25519'));
      return sealedClaims(await runSample(place), withKey);
    },
  },
  'sealed-file-ecdsa': {
    about: 'a run sealed with an ECDSA P-256 key in a PEM file',
    async make(place) {
      useSigner(place, 'file:~/release.pem');
      keyFile(place, generateKeyPairSync('ec', { namedCurve: 'prime256v1' }));
      return sealedClaims(await runSample(place), withKey);
    },
  },
  'sealed-environment-key': {
    about: 'a run sealed with a key in an environment variable',
    async make(place) {
      useSigner(place, 'env:RELEASE_KEY');
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      place.file('signer.pem', pemOf(publicKey));
      const RELEASE_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      return sealedClaims(await runSample(place, {}, { env: { RELEASE_KEY } }), withKey);
    },
  },
  'sealed-ssh-ed25519': {
    about: 'a run sealed with an Ed25519 SSH key',
    async make(place) {
      useSigner(place, 'ssh:~/signer.key');
      sshKey(place, 'ed25519');
      return sealedClaims(await runSample(place), withKey);
    },
  },
  'sealed-ssh-ecdsa': {
    about: 'a run sealed with an ECDSA SSH key',
    async make(place) {
      useSigner(place, 'ssh:~/signer.key');
      sshKey(place, 'ecdsa');
      return sealedClaims(await runSample(place), withKey);
    },
  },
  'sealed-ssh-agent': {
    about: 'a run sealed with an Ed25519 key of an SSH agent',
    async make(place) {
      useSigner(place, 'agent');
      const key = sshKey(place, 'ed25519');
      const SSH_AUTH_SOCK = join(place.root, 'tmp', 'agent');
      const agent = spawn('ssh-agent', ['-D', '-a', SSH_AUTH_SOCK], { stdio: 'ignore' });
      try {
        while (!existsSync(SSH_AUTH_SOCK)) await new Promise((resolve) => setTimeout(resolve, 20));
        spawnSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK } });
        return sealedClaims(await runSample(place, {}, { env: { SSH_AUTH_SOCK } }), withKey);
      } finally {
        agent.kill();
      }
    },
  },
  'sealed-throw-away-key': {
    about: 'a run sealed in CI with a key that no one kept, so that no verifier can trust its signer',
    async make(place) {
      const run = await runSample(place, {}, { env: { CI: 'true' }, args: ['--ephemeral-key'] });
      const [verify, ...rest] = sealedClaims(run);
      return [...(verify === undefined ? [] : [{ ...verify, exit: 3 }]), ...rest];
    },
  },
};

const withKey = ['--key', '../signer.pem'];

function useSigner(place: Place, key: string): void {
  place.commit('Signer', { '.writ/config.toml': `[signer]\nkey = "${key}"\n` });
}

function keyFile(
  place: Place,
  { privateKey, publicKey }: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
): void {
  place.file('home/release.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }));
  spawnSync('chmod', ['600', join(place.home, 'release.pem')]);
  place.file('signer.pem', pemOf(publicKey));
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** Makes `home/signer.key`, and `signer.pem` with the public half of it as a verifier pins it; returns its path. */
function sshKey(place: Place, type: 'ed25519' | 'ecdsa'): string {
  const path = join(place.home, 'signer.key');
  const make = ['-q', '-t', type, '-N', '', '-C', 'signer@sample.example', '-f', path];
  if (spawnSync('ssh-keygen', make).status !== 0) throw new Error('`ssh-keygen` made no key');
  const [, text = ''] = readFileSync(`${path}.pub`, 'utf8').split(' ');
  const der = Buffer.concat([
    Buffer.from(
      type === 'ed25519'
        ? '302a300506032b6570032100'
        : '3059301306072a8648ce3d020106082a8648ce3d030107034200',
      'hex',
    ),
    Buffer.from(text, 'base64').subarray(type === 'ed25519' ? -32 : -65),
  ]);
  place.file(
    'signer.pem',
    `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`,
  );
  return path;
}
