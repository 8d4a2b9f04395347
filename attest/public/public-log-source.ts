/* Log mode `public-log`: selects the log, by address, signing config or plugin, and opens it. */

import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { type HttpQuestion, serviceUrlFault } from '../../core/base/http-question.ts';
import { type HttpAnswer, type HttpClient, requestHttp } from '../../core/base/net.ts';
import type { LogProof, SealingPlace, Signer, TransparencyLog } from '../../core/interfaces/sealing.ts';
import { type BundledProof, parseTlogEntry } from '../bundle/bundle.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { parseCheckpoint } from '../log/checkpoint.ts';
import { type CheckpointMemory, holdToSeen, type ProveGrowth } from '../log/checkpoint-memory.ts';
import { parseLogEntry, parsePromisedEntry, requireSameClaim } from '../log/log-entry.ts';
import { type PublicLogSection, publicLogSectionOf } from '../log/log-sections.ts';
import { emptyRoot } from '../log/merkle.ts';
import { pinnedLog } from '../log/pinned-log.ts';
import { cutFromWider, type LedgerFileReader, proveConsistency, readSubtrees } from '../log/tiles.ts';
import {
  type PublicLogKey,
  parseTrustedRoot,
  publicLogsOf,
  readValidity,
  type TrustedRoot,
} from './trusted-root.ts';
import { type PublicInclusion, verifyPublicProof } from './verify-public-proof.ts';

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
      'the spec asks for `public-log`: say which by `url` and `api`, or by `signing_config`',
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
  const { message, detail } = invalid('log', 'the spec asks for `public-log`, and it names no log');
  return new WritError('CONFIG_INVALID', {
    message,
    detail,
    hints: [
      'a log of a listed plugin: `[log]` with `plugin` and `vkey` (`writ help plugin-log`)',
      'a log of sigstore: `[log]` with `url`, `api` and `trusted_root`, or `signing_config` (`writ help signing`)',
      'or ask for `internal-ledger` in the spec, which needs none',
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

interface PublicLogOptions {
  readonly url: string;
  readonly api: 'v1' | 'v2';
  /** The file of the policy commit. */
  readonly trustedRoot: Uint8Array;
  readonly logs: readonly PublicLogKey[];
  /** Its public key or certificate is submitted to the log. */
  readonly signer: Pick<Signer, 'publicKeyPem' | 'certificate'>;
  readonly clock: Clock;
  /** What this user has seen of it. */
  readonly memory: CheckpointMemory;
  /** Sends requests to a log of version 2; the sigstore client adds entries to version 1. Default: `requestHttp`. */
  readonly fetch?: HttpClient;
  /** For one request; default 60,000. A Rekor v2 log answers once a checkpoint covers the entry, after some seconds. */
  readonly withinMs?: number;
  /** Default 3. */
  readonly attempts?: number;
  /** Longest wait before a retry; default 30,000. */
  readonly maxWaitMs?: number;
}

/**
 * A third-party Rekor log, v1 or v2. An answer is accepted after verification of its checkpoint, path, time and
 * entry. They must belong to a log in the trusted root, match the submitted digest, signature and key, and be
 * consistent with the user's stored checkpoints.
 *
 * Otherwise throws LOG_FAILED with the cause, or LOG_FORKED.
 */
export function createPublicLog(options: PublicLogOptions): TransparencyLog {
  const {
    url,
    api,
    clock,
    fetch = requestHttp,
    withinMs = 60_000,
    attempts = 3,
    maxWaitMs = 30_000,
  } = options;
  const patience = { clock, fetch, attempts, maxWaitMs };

  async function add(body: Uint8Array): Promise<BundledProof> {
    const { certificate, publicKeyPem } = options.signer;
    if (api === 'v2') return addToRekorV2(url, body, certificate?.(), patience, withinMs);
    const verifier = certificate === undefined ? publicKeyPem : new X509Certificate(certificate()).toString();
    return addToRekorV1(url, body, verifier, { attempts, withinMs });
  }

  function verify(proof: BundledProof, body: Uint8Array): PublicInclusion {
    const { certificate } = options.signer;
    try {
      const inclusion = verifyPublicProof(proof, options.logs, clock.now());
      if ((proof.promise === undefined) !== (api === 'v2'))
        throw new WritError('VERIFY_REFUTED', { message: `the entry is not one of Rekor ${api}` });
      const expected = parseLogEntry(body);
      requireSameClaim(proof.promise ? parsePromisedEntry(proof.body) : parseLogEntry(proof.body), {
        ...expected,
        ...(certificate === undefined ? {} : { certificate: Buffer.from(certificate()) }),
      });
      if (inclusion.log.validFor.endMs < clock.now())
        throw new WritError('VERIFY_REFUTED', { message: 'the key of the log is not valid any more' });
      return inclusion;
    } catch (fault) {
      throw logFailed(messageOf(fault), url, fault);
    }
  }

  const growthOf = (origin: string | undefined): ProveGrowth =>
    api === 'v2' ? proveByTiles(url, patience, withinMs) : proveByRekorV1(url, origin, patience, withinMs);
  /** The tree that answered last: a log of version 1 has several. */
  let shown: string | undefined;

  return {
    mode: 'public-log',
    trustedRoot: options.trustedRoot,
    vkey: async () => undefined,
    size: async () => 0,
    append: async (body): Promise<LogProof> => {
      const proof = await add(body);
      const { checkpoint, log } = verify(proof, body);
      shown = checkpoint.origin;
      await holdToSeen({ ...checkpoint, keyId: log.logId }, options.memory, growthOf(shown));
      return { ...proof, origin: checkpoint.origin };
    },
    consistency: (from, to) => growthOf(shown)(from, to),
  };
}

/** 256 hashes. */
const maxTileBytes = 8192;
const maxProofBytes = 64 * 1024;
const maxNodes = 64;

/**
 * Consistency proofs of a Rekor v2 log, made here from its tiles (C2SP tlog-tiles below `/api/v2`): a partial tile that
 * is gone is cut from the full one. LOG_FAILED where a tile is not there.
 */
export function proveByTiles(url: string, patience: Patience, withinMs: number): ProveGrowth {
  const read: LedgerFileReader = async (path) => {
    const place = `${url}/api/v2/${path}`;
    const question = { url: place, method: 'GET', withinMs, maxBytes: maxTileBytes } as const;
    const { status, body } = await askLog(question, patience);
    if (status === 404) return undefined;
    if (status !== 200) throw logFailed(`it answered ${status} for a tile`, place);
    return body;
  };
  const nothingListed = async (): Promise<readonly string[]> => [];
  return async (from, to) => {
    const tiles: LedgerFileReader = async (path) =>
      (await read(path)) ?? (await cutFromWider(path, read, nothingListed));
    try {
      // The caller verifies that they lead to the root; the size alone selects them.
      return { hashes: await proveConsistency(from, { size: to, root: emptyRoot }, readSubtrees(tiles, to)) };
    } catch (cause) {
      if (!isWritError(cause, 'LEDGER_CORRUPT')) throw cause;
      throw logFailed(`\`${cause.detail.path}\` is no tile of ${to} entries`, url, cause);
    }
  };
}

/** Consistency proofs of a Rekor v1 log, which makes them; `origin` names the tree. LOG_FAILED. */
export function proveByRekorV1(
  url: string,
  origin: string | undefined,
  patience: Patience,
  withinMs: number,
): ProveGrowth {
  const tree = / - ([0-9]{1,20})$/.exec(origin ?? '')?.[1];
  return async (from, to) => {
    const asked = `firstSize=${from}&lastSize=${to}${tree === undefined ? '' : `&treeID=${tree}`}`;
    const place = `${url}/api/v1/log/proof?${asked}`;
    const headers = { accept: 'application/json' };
    const question = { url: place, method: 'GET', headers, withinMs, maxBytes: maxProofBytes } as const;
    const { status, body } = await askLog(question, patience);
    if (status !== 200) throw logFailed(`it answered ${status} for a consistency proof`, place);
    const nodes = expectArray(parseJsonObject(body, maxProofBytes).hashes ?? [], '/hashes', maxNodes);
    return {
      hashes: nodes.map((node, n) => Buffer.from(expectText(node, `/hashes/${n}`, /^[0-9a-f]{64}$/), 'hex')),
    };
  };
}

/** Most octets of an answer: an entry of 64 KiB in base64, 63 hashes, a checkpoint with its cosignatures. */
const maxAnswerBytes = 1024 * 1024;

/** The unverified answer of a Rekor v2 log, in writ's form. `certificate` (DER) is submitted instead of the key. */
async function addToRekorV2(
  url: string,
  body: Uint8Array,
  certificate: Uint8Array | undefined,
  patience: Patience,
  withinMs: number,
): Promise<BundledProof> {
  const entry = parseLogEntry(body);
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const place = `${url}/api/v2/log/entries`;
  const limits = { withinMs, maxBytes: maxAnswerBytes };
  const answer = await askLog(
    {
      ...limits,
      url: place,
      method: 'POST',
      headers,
      body: JSON.stringify({
        hashedRekordRequestV002: {
          digest: entry.digest.toString('base64'),
          signature: {
            content: entry.signature.toString('base64'),
            verifier: {
              ...(certificate === undefined
                ? { publicKey: { rawBytes: entry.publicKey.toString('base64') } }
                : { x509Certificate: { rawBytes: Buffer.from(certificate).toString('base64') } }),
              keyDetails: entry.keyDetails,
            },
          },
        },
      }),
    },
    patience,
  );
  if (answer.status === 200 || answer.status === 201) return readAnswer(answer.body, place);
  const there = answer.status === 409 ? answer.headers.location : undefined;
  if (there === undefined) throw logFailed(`it answered ${answer.status}${said(answer.body)}`, place);
  const at = URL.canParse(there, place) ? new URL(there, place) : undefined;
  // The log reports that the entry exists already. A redirect is accepted only to the same host.
  if (at?.origin !== new URL(place).origin)
    throw logFailed('it answered 409 and pointed to another host for the entry', place);
  const kept = await askLog(
    { ...limits, url: at.href, method: 'GET', headers: { accept: 'application/json' } },
    patience,
  );
  if (kept.status !== 200)
    throw logFailed(`it answered ${kept.status} for the entry that is there already`, place);
  return readAnswer(kept.body, place);
}

/** Protobuf JSON omits zero and empty values. Size and root come from the checkpoint if they are not repeated. */
function readAnswer(bytes: Buffer, url: string): BundledProof {
  try {
    const {
      logIndex = '0',
      logId,
      kindVersion,
      inclusionProof,
      canonicalizedBody,
    } = parseJsonObject(bytes, maxAnswerBytes);
    const proof: JsonObject = expectObject(inclusionProof, '/inclusionProof');
    const { envelope } = expectObject(proof.checkpoint, '/inclusionProof/checkpoint');
    const head = parseCheckpoint(String(envelope), () => true);
    return parseTlogEntry(
      {
        logIndex,
        logId,
        kindVersion,
        integratedTime: '0',
        inclusionProof: {
          logIndex: proof.logIndex ?? logIndex,
          rootHash: proof.rootHash ?? head.root.toString('base64'),
          treeSize: proof.treeSize ?? String(head.size),
          hashes: proof.hashes ?? [],
          checkpoint: { envelope },
        },
        canonicalizedBody,
      },
      '',
    );
  } catch (cause) {
    throw logFailed(`its answer cannot be read: ${cause instanceof Error ? cause.message : ''}`, url, cause);
  }
}

/** The start of a service's refusal message, as visible ASCII. */
function said(body: Buffer): string {
  const text = body
    .toString('latin1', 0, 200)
    .replace(/[^ -~]+/g, ' ')
    .trim();
  return text === '' ? '' : `: ${text}`;
}

interface Patience {
  readonly clock: Clock;
  readonly fetch: HttpClient;
  /** Number of requests in all. */
  readonly attempts: number;
  /** Longest wait before a retry, also where the log names a longer one. */
  readonly maxWaitMs: number;
}

/**
 * Sends a request to a log and retries where it is busy (429), failing (5xx) or silent; it honours Retry-After up to
 * `maxWaitMs`. Any other status is an answer. LOG_FAILED names the last fault.
 */
async function askLog(question: HttpQuestion, patience: Patience): Promise<HttpAnswer> {
  const { clock, fetch: ask, attempts, maxWaitMs } = patience;
  for (let attempt = 1; ; attempt++) {
    const outcome = await askOnce(question, ask);
    const isLast = attempt >= attempts;
    if ('status' in outcome) {
      if (!isPassing(outcome.status)) return outcome;
      if (isLast)
        throw logFailed(`it answered ${outcome.status} to each of ${attempts} attempts`, question.url);
    } else if (isLast) throw logFailed(outcome.message, question.url, outcome);
    const asked = 'status' in outcome ? retryAfterMs(outcome.headers['retry-after'], clock.now()) : undefined;
    await clock.sleep(Math.min(maxWaitMs, asked ?? 500 * 2 ** (attempt - 1)), question.signal);
  }
}

async function askOnce(question: HttpQuestion, ask: HttpClient): Promise<HttpAnswer | WritError> {
  try {
    return await ask(question);
  } catch (fault) {
    if (isWritError(fault, 'NETWORK_FAILED')) return fault;
    throw fault;
  }
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now; `undefined` for anything else. */
function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** LOG_FAILED about a log: the fault and the address. */
function logFailed(found: string, url: string, cause?: unknown): WritError {
  const { origin } = new URL(url);
  const why = isWritError(cause) ? { code: cause.code, ...cause.detail } : {};
  return new WritError('LOG_FAILED', {
    message: `the public log \`${origin}\` did not do what was asked: ${found}`,
    detail: { ...why, origin, found },
    cause,
  });
}

/** SHA2_256 of sigstore's HashAlgorithm. */
const sha256 = 1;

/**
 * Adds an entry to a Rekor v1 log through the sigstore client, which also fetches an existing entry. Sends only
 * digest, signature and verifier, never the signed content. `verifier` is a PEM public key or certificate. Returns
 * the unverified answer in writ's form. Throws LOG_FAILED.
 */
async function addToRekorV1(
  url: string,
  body: Uint8Array,
  verifier: string,
  { attempts, withinMs }: { readonly attempts: number; readonly withinMs: number },
): Promise<BundledProof> {
  const { RekorWitness } = await import('@sigstore/sign');
  const { digest, signature } = parseLogEntry(body);
  const witness = new RekorWitness({
    rekorBaseURL: url,
    timeout: withinMs,
    retry: { retries: attempts - 1, minTimeout: 250, maxTimeout: 10_000 },
  });
  try {
    const { tlogEntries } = await witness.testify(
      {
        $case: 'messageSignature',
        messageSignature: { messageDigest: { algorithm: sha256, digest }, signature },
      },
      verifier,
    );
    const [entry] = tlogEntries ?? [];
    // Its fields are whatever the log sent: they become the JSON that a bundle holds and are read as strictly as one.
    const json: unknown = JSON.parse(JSON.stringify(entry, toBase64));
    return parseTlogEntry(json, '');
  } catch (cause) {
    throw logFailed(describe(cause), url, cause);
  }
}

/** Octets as a bundle writes them. A Buffer has become plain data by the time a replacer sees it. */
function toBase64(_key: string, value: unknown): unknown {
  const isOctets =
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value;
  return isOctets ? Buffer.from(value.data as number[]).toString('base64') : value;
}

/** The client wraps what it found once or twice. */
function describe(fault: unknown): string {
  const inner = fault instanceof Error && fault.cause instanceof Error ? `: ${fault.cause.message}` : '';
  return `${messageOf(fault)}${inner}`.replace(/[^ -~]+/g, ' ').slice(0, 400);
}
