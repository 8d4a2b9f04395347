/* The built-in plugin that brings signing keys and transparency logs. */
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { requestHttp } from '../../core/base/net.ts';
import type { Signer, SignerForm, SignerSource } from '../../core/interfaces/sealing.ts';
import {
  type Capabilities,
  definePlugin,
  type LoadedPlugin,
  ownFiles,
  type Secrets,
  secretsOf,
} from '../../core/kernel/plugin.ts';
import {
  findUserSigningKey,
  generateKey,
  openKeyFile,
  openUserSigningKey,
  parsePrivateKey,
  toSigner,
} from '../keys/key-signer.ts';
import { openSshKeyFile } from '../keys/openssh-key.ts';
import { type Environment, homeOf } from '../keys/user-config-dir.ts';
import {
  createInternalLedgerSource,
  type SharedAccess,
  userCheckpointMemory,
} from '../log/internal-ledger-source.ts';
import { ledgerMode, noLogSource, publicLogMode, readPublicLogSection } from '../log/log-sections.ts';
import { openAgentKey } from '../signer/agent-key.ts';
import {
  type AgentKey,
  type EnvironmentKey,
  type KeylessKey,
  type PathKey,
  signerForms,
} from './sealing-forms.ts';

export interface AttestPluginOptions {
  /** Where the user's keys are and whether this is CI. */
  readonly env: Environment;
  /** `--ephemeral-key`. */
  readonly ephemeralKey: boolean;
  /** Is given what a person should know of and no run fails for. */
  readonly report?: (notice: WritError) => void;
  /** Where the token of a shared ledger is, beside the environment. */
  readonly vault?: SharedAccess['vault'];
}

/**
 * Signing keys, and the logs `internal-ledger`, `public-log` and `none`. Touches no file before one of them is opened.
 */
export function attestPlugin({ env, ephemeralKey, report, vault }: AttestPluginOptions): LoadedPlugin {
  return definePlugin({
    name: 'attest',
    api: 1,
    enforces: [
      'provenance.requireSlsaProvenance',
      'provenance.transparencyLog.mode=none',
      'provenance.transparencyLog.mode=internal-ledger',
      'provenance.transparencyLog.mode=public-log',
      'provenance.bindings.embedIntentSpecDigest',
      'provenance.bindings.embedEvidenceDigests',
      'provenance.bindings.embedIntentSpecDigest=false',
      'provenance.bindings.embedEvidenceDigests=false',
      'artifacts.required.name=provenance-attestation',
      'artifacts.required.name=transparency-proof',
    ],
    setup({ slots, clock, fetch, secret, files }) {
      const options = { env, ephemeral: ephemeralKey, clock, fetch, secret, files };
      for (const [form, source] of createSignerSources(options)) slots.signer.add(form, source);
      slots.log.add(ledgerMode, createInternalLedgerSource(env, clock, report, { fetch, vault }));
      slots.log.add(publicLogMode, {
        readSection: readPublicLogSection,
        open: async (place, signer) => {
          const { openPublicLog } = await import('../public/public-log-source.ts');
          return openPublicLog(place, signer, { clock, fetch, memory: userCheckpointMemory(env) });
        },
      });
      slots.log.add('none', noLogSource);
      return undefined;
    },
  });
}

/** What of a plugin's capabilities is not given here is made of `env` and this machine. */
export interface SignerSourcesOptions
  extends Partial<Pick<Capabilities, 'clock' | 'fetch' | 'secret' | 'files'>> {
  readonly env: Environment;
  /** `--ephemeral-key`: without a configured key, sign with one that is thrown away. */
  readonly ephemeral: boolean;
}

/** The sources of every form of `[signer] key`, by form, in the order in which messages name them. */
export function createSignerSources({
  env,
  ephemeral,
  clock = systemClock,
  fetch = requestHttp,
  secret = secretsOf(env),
  files = ownFiles,
}: SignerSourcesOptions): ReadonlyMap<string, SignerSource> {
  return new Map<string, SignerSource>([
    ['file', pathSource(signerForms.file, env, (path) => openKeyFile(path, undefined, files))],
    ['ssh', pathSource(signerForms.ssh, env, (path) => openSshKeyFile(path, files))],
    ['env', environmentSource(secret)],
    ['agent', agentSource(env)],
    ['keyless', keylessSource({ clock, fetch, secret })],
    ['default', userSource(env, ephemeral)],
  ]);
}

/**
 * A key file: PEM for `file`, an OpenSSH private key without passphrase for `ssh`. A file inside the repository is
 * refused: every reader of the repository could sign.
 */
function pathSource<Form extends string>(
  form: SignerForm<PathKey<Form>>,
  env: Environment,
  open: (path: string) => Promise<Signer>,
): SignerSource<PathKey<Form>> {
  return { ...form, open: async ({ path }) => open(path.replace(/^~(?=\/)/, homeOf(env))) };
}

/**
 * Where no key is configured: the user's own, made on first use, or with `ephemeral` a throw-away one. Under `CI` none
 * is made: without a key that is there already, SIGNER_EPHEMERAL.
 */
export function userSource(env: Environment, ephemeral: boolean): SignerSource {
  let throwAway: Signer | undefined;
  return {
    ...signerForms.default,
    async open(_, place) {
      const passing = (): Signer => {
        throwAway ??= toSigner(generateKey('ecdsa-p256-sha256'), true);
        return throwAway;
      };
      if (ephemeral) return passing();
      const kept = isCi(env) || place?.dry === true ? await findUserSigningKey(env) : undefined;
      if (kept !== undefined) return kept;
      if (isCi(env)) throw new WritError('SIGNER_EPHEMERAL');
      if (place?.dry === true) return passing();
      return openUserSigningKey(env);
    },
  };
}

function environmentSource(secret: Secrets): SignerSource<EnvironmentKey> {
  return { ...signerForms.env, open: async ({ name }) => fromEnvironment(name, secret) };
}

function agentSource(env: Environment): SignerSource<AgentKey> {
  return { ...signerForms.agent, open: async ({ wanted }) => openAgentKey(wanted, env) };
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

/**
 * A key for this run only, with a certificate for the identity in an OIDC token. `fulcio_url` names the certificate
 * authority; without it, the signing config of `[log]` does.
 */
function keylessSource(
  capabilities: Pick<Capabilities, 'clock' | 'fetch' | 'secret'>,
): SignerSource<KeylessKey> {
  return {
    ...signerForms.keyless,
    open: async (_, place) => (await import('../signer/keyless-key.ts')).openKeyless(place, capabilities),
  };
}
