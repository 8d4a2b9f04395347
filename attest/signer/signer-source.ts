import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { askHttp } from '../../core/base/net.ts';
import type { SignerKey } from '../../core/contract/sealing-config.ts';
import type { SealingPlace } from '../../core/contract/sealing-place.ts';
import type { Signer, SignerSource } from '../../core/contract/signer.ts';
import { type Capabilities, ownFiles, type Secrets, secretsOf } from '../../core/kernel/capabilities.ts';
import { openAgentKey } from './agent-key.ts';
import { openKeyFile } from './file-key.ts';
import { generateKey, parsePrivateKey, toSigner } from './key-signer.ts';
import { openSshKeyFile } from './openssh-key.ts';
import { type Environment, homeOf } from './user-config-dir.ts';
import { openUserSigningKey } from './user-keys.ts';

/** What of a plugin's capabilities is not given here is made of `env` and this machine. */
export interface SignerSourceOptions
  extends Partial<Pick<Capabilities, 'clock' | 'fetch' | 'secret' | 'files'>> {
  readonly env: Environment;
  /** `--ephemeral-key`: without a configured key, sign with one that is thrown away. */
  readonly ephemeral: boolean;
}

/**
 * Opens every form of `[signer] key`. Without one: the user's own key, or with `ephemeral` a throw-away one; under `CI`
 * only the latter, else SIGNER_EPHEMERAL.
 */
export function createSignerSource({
  env,
  ephemeral,
  clock = systemClock,
  fetch = askHttp,
  secret = secretsOf(env),
  files = ownFiles,
}: SignerSourceOptions): SignerSource {
  const settle = (path: string): string => path.replace(/^~(?=\/)/, homeOf(env));
  const throwAway = ephemeral ? toSigner(generateKey('ecdsa-p256-sha256'), true) : undefined;
  return {
    async open(key: SignerKey, place?: SealingPlace): Promise<Signer> {
      switch (key.form) {
        case 'file':
          return openKeyFile(settle(key.path), undefined, files);
        case 'env':
          return fromEnvironment(key.name, secret);
        case 'ssh':
          return openSshKeyFile(settle(key.path), files);
        case 'agent':
          return openAgentKey(key.wanted, env);
        case 'keyless':
          return (await import('./keyless-key.ts')).openKeyless(place, { clock, fetch, secret });
        case 'default':
          if (throwAway !== undefined) return throwAway;
          if (isCi(env)) throw new WritError('SIGNER_EPHEMERAL');
          return openUserSigningKey(env);
      }
    },
  };
}

function fromEnvironment(name: string, secret: Secrets): Signer {
  const pem = secret(name);
  if (pem === undefined || pem === '') {
    throw new WritError('KEY_UNUSABLE', {
      message: `the environment variable \`${name}\` of \`[signer] key\` is not set`,
      detail: { name },
    });
  }
  return toSigner(parsePrivateKey(pem, undefined, `the environment variable \`${name}\``), false);
}

/** The convention of CI services: set and neither `false` nor `0`. */
function isCi(env: Environment): boolean {
  return !['', '0', 'false'].includes((env.CI ?? '').toLowerCase());
}
