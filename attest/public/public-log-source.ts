import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpAsker } from '../../core/base/net.ts';
import type { SealingPlace } from '../../core/contract/sealing-place.ts';
import type { LogSource, TransparencyLog } from '../../core/contract/transparency-log.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { readSigningConfig, type SigningServices } from './log-service.ts';
import { pinnedLog } from './pinned-log.ts';
import { createPublicLog } from './public-log.ts';
import { publicLogsOf } from './public-log-key.ts';
import { type PublicLogSection, publicLogSectionOf } from './public-log-section.ts';
import { parseTrustedRoot, type TrustedRoot } from './trusted-root.ts';

/**
 * Log mode `public-log`: the log that `[log]` at base names. Opening asks nobody; it refuses what could never be
 * verified: no log or no trusted root (CONFIG_INVALID), or a key whose signatures such a log cannot check
 * (KEY_UNUSABLE).
 */
export function createPublicLogSource(clock: Clock, fetch: HttpAsker, memory: CheckpointMemory): LogSource {
  return {
    open: async (place, signer) => {
      const said = publicLogSectionOf(place);
      const { plugin } = said;
      if (Object.keys(said).length === 0) throw unsaid();
      if (plugin !== undefined) return openPinned(place, plugin, memory);
      const { bytes, root } = await readTrustedRoot(place);
      const logs = publicLogsOf(root);
      const now = clock.now();
      if (!logs.some(({ validFor }) => validFor.startMs <= now && now <= validFor.endMs))
        throw invalid(
          'log.trusted_root',
          'it names no log that is in use now and signs with Ed25519 or ECDSA P-256',
        );
      const service = await chooseLog(place, now);
      if (signer.algorithm !== 'ecdsa-p256-sha256')
        throw new WritError('KEY_UNUSABLE', {
          message: `a public log is handed a digest and checks the signature over it, which an \`${signer.algorithm}\` signature is not`,
          detail: { expected: 'ecdsa-p256-sha256', found: signer.algorithm },
          hints: ['sign with an ECDSA P-256 key', 'or log to the `internal-ledger`'],
        });
      return createPublicLog({ ...service, trustedRoot: bytes, logs, signer, clock, fetch, memory });
    },
  };
}

/** A log that a plugin speaks to, held to the pinned key; CONFIG_INVALID where no listed plugin brings it. */
function openPinned(
  { logMode, outsideLog }: SealingPlace,
  { name, vkey }: NonNullable<PublicLogSection['plugin']>,
  memory: CheckpointMemory,
): TransparencyLog {
  const outside = outsideLog?.(name);
  if (outside === undefined)
    throw invalid('log.plugin', `no plugin of \`[[plugins]]\` brings a log \`${name}\``);
  return pinnedLog({ mode: logMode, name, vkey, memory }, outside);
}

/** Which log `[log]` means, by `url` or by the signing config. CONFIG_INVALID. */
export async function chooseLog(
  place: SealingPlace,
  nowMs: number,
): Promise<{ readonly url: string; readonly api: 'v1' | 'v2' }> {
  const { service } = publicLogSectionOf(place);
  if (service) return service;
  const services = await readServices(place, nowMs);
  if (services === undefined)
    throw invalid(
      'log.url',
      'the contract asks for `public-log`: say which by `url` and `api`, or by `signing_config`',
    );
  const { log } = services;
  if (log === undefined)
    throw invalid('log.signing_config', 'it names no log that is in use now and speaks version 1 or 2');
  return { url: log.url, api: log.apiVersion === 1 ? 'v1' : 'v2' };
}

/** What the signing config at the policy commit says; `undefined` where `[log]` names none. */
export async function readServices(place: SealingPlace, nowMs: number): Promise<SigningServices | undefined> {
  const path = publicLogSectionOf(place).signingConfig;
  if (path === undefined) return undefined;
  const bytes = await place.readPolicy(path);
  if (bytes === undefined) throw invalid('log.signing_config', `\`${path}\` is no file of the policy commit`);
  return readAs('log.signing_config', () => readSigningConfig(bytes, nowMs));
}

/** The trusted root at base that answers are checked against. CONFIG_INVALID. */
export async function readTrustedRoot(place: SealingPlace): Promise<{
  readonly bytes: Uint8Array;
  readonly root: TrustedRoot;
}> {
  const path = publicLogSectionOf(place).trustedRoot;
  if (path === undefined)
    throw invalid('log.trusted_root', 'expected the trusted root that the log is checked against');
  const bytes = await place.readPolicy(path);
  if (bytes === undefined) throw invalid('log.trusted_root', `\`${path}\` is no file of the policy commit`);
  return { bytes, root: readAs('log.trusted_root', () => parseTrustedRoot(bytes)) };
}

function readAs<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (fault) {
    if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    throw invalid(path, messageOf(fault), fault);
  }
}

function unsaid(): WritError {
  const { message, detail } = invalid('log', 'the contract asks for `public-log`, and it names no log');
  return new WritError('CONFIG_INVALID', {
    message,
    detail,
    hints: [
      'a log of a listed plugin: `[log]` with `plugin` and `vkey` (docs/plugin-log.md)',
      'a log of sigstore: `[log]` with `url`, `api` and `trusted_root`, or `signing_config` (docs/signing.md)',
      'or ask for `internal-ledger` in the contract, which needs none',
    ],
  });
}

function invalid(path: string, message: string, cause?: unknown): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` at the policy commit is not valid at \`${path}\`: ${message}`,
    detail: { issues: [{ path, message }] },
    cause,
  });
}
