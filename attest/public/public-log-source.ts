/* Log mode `public-log`: selects the log, by address, signing config or plugin, and opens it. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { serviceUrlFault } from '../../core/base/http-question.ts';
import type { HttpClient } from '../../core/base/net.ts';
import type { SealingPlace, Signer, TransparencyLog } from '../../core/interfaces/sealing.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { type PublicLogSection, publicLogSectionOf } from '../log/log-sections.ts';
import { pinnedLog } from '../log/pinned-log.ts';
import { createPublicLog } from './public-log.ts';
import { parseTrustedRoot, publicLogsOf, readValidity, type TrustedRoot } from './trusted-root.ts';

/**
 * Opens the log that `[log]` names at the policy commit. Sends no request.
 *
 * Refuses a setup that could never be verified. CONFIG_INVALID: there is no log or no trusted root. KEY_UNUSABLE:
 * such a log cannot verify this key's signatures.
 */
export async function openPublicLog(
  place: SealingPlace,
  signer: Signer,
  {
    clock,
    fetch,
    memory,
  }: { readonly clock: Clock; readonly fetch: HttpClient; readonly memory: CheckpointMemory },
): Promise<TransparencyLog> {
  const section = publicLogSectionOf(place);
  if (Object.keys(section).length === 0) throw unsaid();
  if (section.plugin !== undefined) return openPinned(place, section.plugin, memory);
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

/** Selects the log of `[log]`, by `url` or by the signing config. CONFIG_INVALID. */
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

/**
 * Returns the services from the signing config at the policy commit; `undefined` if `[log]` names no signing config.
 */
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
      'a log of a listed plugin: `[log]` with `plugin` and `vkey` (docs/guides/plugin-log.md)',
      'a log of sigstore: `[log]` with `url`, `api` and `trusted_root`, or `signing_config` (docs/reference/signing.md)',
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

/** A service to sign with, chosen. */
interface Service {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiVersion: number;
}

/** The services that a sigstore SigningConfig selects for a given time. */
interface SigningServices {
  /** Absent: it names none that is in use and that we can speak to. */
  readonly log: Service | undefined;
  readonly certificates: Service | undefined;
  /** The time-stamp authority (RFC 3161); absent also if the config demands stamps of several. */
  readonly timestamps: Service | undefined;
}

const maxBytes = 1024 * 1024;
/** Newest version that this program speaks. */
const spoken = { log: 2, certificates: 1, timestamps: 1 } as const;

/**
 * Reads a SigningConfig 0.2 (protobuf JSON): of the services that are valid at `nowMs`, the first of the newest version
 * that writ supports. A config that demands entries in several logs is SIGNER_UNSUPPORTED, since writ would write
 * fewer. ATTESTATION_MALFORMED.
 */
export function readSigningConfig(bytes: Uint8Array, nowMs: number): SigningServices {
  const json = parseJsonObject(bytes, maxBytes);
  expectText(json.mediaType, '/mediaType', /^application\/vnd\.dev\.sigstore\.signingconfig\.v0\.2\+json$/);
  const choose = (name: string, newest: number): Service | undefined => {
    const usable = expectArray(json[name] ?? [], `/${name}`, 256)
      .map((value, n) => readService(value, `/${name}/${n}`))
      .filter(({ apiVersion, startMs, endMs }) => apiVersion <= newest && startMs <= nowMs && nowMs <= endMs);
    const version = Math.max(...usable.map(({ apiVersion }) => apiVersion));
    const chosen = usable.find(({ apiVersion }) => apiVersion === version);
    return chosen && { url: chosen.url, apiVersion: chosen.apiVersion };
  };
  requireOneLog(json);
  return {
    log: choose('rekorTlogUrls', spoken.log),
    certificates: choose('caUrls', spoken.certificates),
    timestamps: isOne(json, 'tsaConfig') ? choose('tsaUrls', spoken.timestamps) : undefined,
  };
}

interface StatedService extends Service {
  readonly startMs: number;
  readonly endMs: number;
}

function readService(value: unknown, at: string): StatedService {
  const service = expectObject(value, at);
  const url = expectText(service.url, `${at}/url`, /^[!-~]{1,1024}$/).replace(/\/+$/, '');
  const fault = serviceUrlFault(url);
  if (fault !== undefined) throw malformed(`${at}/url`, fault);
  const { majorApiVersion: apiVersion } = service;
  if (typeof apiVersion !== 'number' || !Number.isInteger(apiVersion) || apiVersion < 1)
    throw malformed(`${at}/majorApiVersion`, 'expected a version from 1 on');
  const { start, end } = readValidity(service.validFor, `${at}/validFor`);
  const endMs = end?.getTime() ?? Number.POSITIVE_INFINITY;
  return { url, apiVersion, startMs: start.getTime(), endMs };
}

/** Whether one service of a kind is enough for the config. */
function isOne(json: JsonObject, name: 'rekorTlogConfig' | 'tsaConfig'): boolean {
  const { selector, count } = expectObject(json[name] ?? { selector: 'ANY' }, `/${name}`);
  return selector === 'ANY' || (selector === 'EXACT' && count === 1);
}

function requireOneLog(json: JsonObject): void {
  if (isOne(json, 'rekorTlogConfig')) return;
  const selector = String(expectObject(json.rekorTlogConfig, '/rekorTlogConfig').selector).slice(0, 20);
  throw new WritError('SIGNER_UNSUPPORTED', {
    message: `the signing config asks for entries in several logs (\`${selector}\`), this version writes one`,
    detail: { selector },
    hints: ['use a signing config whose `rekorTlogConfig.selector` is `ANY`, or name one log by `[log] url`'],
  });
}

function malformed(path: string, expected: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the signing config cannot be read at \`${path}\`: ${expected}`,
    detail: { what: 'signing-config', path },
  });
}
