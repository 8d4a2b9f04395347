import { WritError } from '../../core/base/errors.ts';
import { serviceUrlFault } from '../../core/base/service-url.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../encoding/expect-json.ts';

/** A service to sign with, chosen. */
export interface Service {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiVersion: number;
}

/** Which services a sigstore SigningConfig says to use at a time. */
export interface SigningServices {
  /** Absent: it names none that is in use and that we can speak to. */
  readonly log: Service | undefined;
  readonly certificates: Service | undefined;
  readonly hasTimestamps: boolean;
}

const maxBytes = 1024 * 1024;
/** Newest version that this program speaks. */
const spoken = { log: 2, certificates: 1, timestamps: 1 } as const;

/**
 * Reads a SigningConfig 0.2 (protobuf JSON): of the services whose validity holds `nowMs`, the first of the newest
 * version that we speak. A config that demands entries in several logs is SIGNER_UNSUPPORTED: one entry would be less
 * than it asks for. ATTESTATION_MALFORMED.
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
    hasTimestamps: choose('tsaUrls', spoken.timestamps) !== undefined,
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
  const { start, end } = expectObject(service.validFor, `${at}/validFor`);
  return {
    url,
    apiVersion,
    startMs: readMoment(start, `${at}/validFor/start`),
    endMs: end === undefined ? Number.POSITIVE_INFINITY : readMoment(end, `${at}/validFor/end`),
  };
}

function readMoment(value: unknown, at: string): number {
  const moment = Date.parse(expectText(value, at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/));
  if (Number.isNaN(moment)) throw malformed(at, 'expected a time that the calendar has');
  return moment;
}

function requireOneLog(json: JsonObject): void {
  const config = expectObject(json.rekorTlogConfig ?? { selector: 'ANY' }, '/rekorTlogConfig');
  const isOne = config.selector === 'ANY' || (config.selector === 'EXACT' && config.count === 1);
  if (isOne) return;
  throw new WritError('SIGNER_UNSUPPORTED', {
    message: `the signing config asks for entries in several logs (\`${String(config.selector).slice(0, 20)}\`), this version writes one`,
    detail: { selector: String(config.selector).slice(0, 20) },
    hints: ['use a signing config whose `rekorTlogConfig.selector` is `ANY`, or name one log by `[log] url`'],
  });
}

function malformed(path: string, expected: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the signing config cannot be read at \`${path}\`: ${expected}`,
    detail: { what: 'signing-config', path },
  });
}
