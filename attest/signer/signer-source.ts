import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { SignerKey } from '../../core/contract/sealing-config.ts';
import type { SealingPlace } from '../../core/contract/sealing-place.ts';
import type { Signer, SignerSource } from '../../core/contract/signer.ts';
import { openAgentKey } from './agent-key.ts';
import { openKeyFile } from './file-key.ts';
import { generateKey, parsePrivateKey, toSigner } from './key-signer.ts';
import { openSshKeyFile } from './openssh-key.ts';
import { type Environment, homeOf } from './user-config-dir.ts';
import { openUserSigningKey } from './user-keys.ts';

export interface SignerSourceOptions {
  readonly env: Environment;
  /** `--ephemeral-key`: without a configured key, sign with one that is thrown away. */
  readonly ephemeral: boolean;
  readonly clock?: Clock;
}

/**
 * Opens every form of `[signer] key`. Without one: the user's own key, or with `ephemeral` a throw-away one; under `CI`
 * only the latter, else SIGNER_EPHEMERAL.
 */
export function createSignerSource({
  env,
  ephemeral,
  clock = systemClock,
}: SignerSourceOptions): SignerSource {
  const settle = (path: string): string => path.replace(/^~(?=\/)/, homeOf(env));
  const throwAway = ephemeral ? toSigner(generateKey('ecdsa-p256-sha256'), true) : undefined;
  return {
    async open(key: SignerKey, place?: SealingPlace): Promise<Signer> {
      switch (key.form) {
        case 'file':
          return openKeyFile(settle(key.path));
        case 'env':
          return fromEnvironment(key.name, env);
        case 'ssh':
          return openSshKeyFile(settle(key.path));
        case 'agent':
          return openAgentKey(key.wanted, env);
        case 'keyless':
          return (await import('./keyless-key.ts')).openKeyless(place, env, clock);
        case 'default':
          if (throwAway !== undefined) return throwAway;
          if (isCi(env)) throw new WritError('SIGNER_EPHEMERAL');
          return openUserSigningKey(env);
      }
    },
  };
}

function fromEnvironment(name: string, env: Environment): Signer {
  const pem = env[name];
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
