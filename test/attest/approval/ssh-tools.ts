import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The reason to skip what needs the real `ssh-keygen`; `false` where it is there. */
export const withoutSshKeygen: string | false =
  spawnSync('ssh-keygen', ['-?']).error === undefined ? false : 'ssh-keygen is not installed';

/** Key types that `ssh-keygen` makes without a token. */
export const keyKinds = {
  ed25519: ['-t', 'ed25519'],
  'ecdsa-256': ['-t', 'ecdsa', '-b', '256'],
  'ecdsa-384': ['-t', 'ecdsa', '-b', '384'],
  'ecdsa-521': ['-t', 'ecdsa', '-b', '521'],
  'rsa-2048': ['-t', 'rsa', '-b', '2048'],
} as const;

/** Makes a key without passphrase (or with one) and answers its private file. */
export function makeKey(
  dir: string,
  name: string,
  kind: readonly string[] = keyKinds.ed25519,
  passphrase = '',
): string {
  const file = join(dir, name);
  execFileSync('ssh-keygen', ['-q', ...kind, '-N', passphrase, '-C', name, '-f', file]);
  return file;
}

/** `type base64` of a key file. */
export function publicOf(file: string): string {
  return readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
}

export function sshSign(
  file: string,
  message: Uint8Array,
  namespace: string,
  more: readonly string[] = [],
): string {
  const run = spawnSync('ssh-keygen', ['-Y', 'sign', '-n', namespace, ...more, '-f', file], {
    input: message,
  });
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return run.stdout.toString();
}

/** What the oracle says: `ssh-keygen -Y verify` of a signature by `principal`. */
export function sshVerify(
  dir: string,
  given: {
    readonly allowed: string;
    readonly principal: string;
    readonly namespace: string;
    readonly signature: string;
    readonly message: Uint8Array;
    /** `verify-time` as ssh-keygen(1) writes it. */
    readonly at?: string;
  },
): boolean {
  const allowed = join(dir, 'oracle-signers');
  const signature = join(dir, 'oracle.sig');
  writeFileSync(allowed, given.allowed);
  writeFileSync(signature, given.signature);
  const at = given.at === undefined ? [] : [`-Overify-time=${given.at}`];
  const args = [
    '-Y',
    'verify',
    ...at,
    '-f',
    allowed,
    '-I',
    given.principal,
    '-n',
    given.namespace,
    '-s',
    signature,
  ];
  return spawnSync('ssh-keygen', args, { input: given.message }).status === 0;
}

/** The text with one octet of its armoured body changed, still canonical base64. */
export function flipped(armoured: string, at: number): string {
  const [, body = ''] = /SIGNATURE-----\n([\s\S]+)\n-----END/.exec(armoured) ?? [];
  const octets = Buffer.from(body.replaceAll('\n', ''), 'base64');
  octets[at] = (octets[at] ?? 0) ^ 2;
  return armour(octets);
}

export function unarmoured(armoured: string): Buffer {
  const [, body = ''] = /SIGNATURE-----\n([\s\S]+)\n-----END/.exec(armoured) ?? [];
  return Buffer.from(body.replaceAll('\n', ''), 'base64');
}

export function armour(octets: Uint8Array): string {
  const lines =
    Buffer.from(octets)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}

/** Length-prefixed strings of the SSH wire format. */
export function wire(...strings: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    strings.flatMap((string) => {
      const octets = Buffer.from(string as Uint8Array);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(octets.length);
      return [length, octets];
    }),
  );
}
