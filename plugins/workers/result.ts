/* Results of workers: the signed statement, the bytes beside it, and the keys that count (`.writ/workers`). */
import type { KeyObject } from 'node:crypto';
import {
  inTotoPayloadType,
  parseEnvelope,
  signEnvelope,
  verifyEnvelope,
} from '../../attest/encoding/dsse.ts';
import { parseBase64 } from '../../attest/encoding/expect-json.ts';
import { keyIdOf } from '../../attest/encoding/public-key.ts';
import { parseSshPublicKey, wireString } from '../../attest/encoding/ssh-wire.ts';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import {
  anything,
  count,
  flag,
  list,
  object,
  oneOf,
  type TypeOf,
  text,
  where,
} from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { CapturedOutput, SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { commitFiles, readFiles } from './content.ts';
import { type Job, readShape, refused } from './job.ts';

export const workersPath = '.writ/workers';
const statementType = 'https://in-toto.io/Statement/v1';
const predicateType = 'urn:writ:job-result:v1';
const maxReports = 256;
const maxReportBytes = 64 * 1024 * 1024;
const maxEnvelopeBytes = 16 * 1024 * 1024;
const streams = ['stdout', 'stderr', 'combined'] as const;

const sha256Text = where(text(64), 'to be a SHA-256 in hex', (found) => /^[0-9a-f]{64}$/.test(found));
const output = object('to be an output', { sha256: sha256Text, totalBytes: count(0), truncated: flag });
const written = object('to be a path', { path: text(4096), was: oneOf('added', 'changed') });

const predicateShape = object(
  'to be a result',
  {
    /** The dispatch that it answers. */
    fence: count(1),
    timedOut: flag,
    durationMs: count(0),
    stdout: output,
    stderr: output,
    combined: output,
    reports: list(
      object('to be a report', { name: text(255), sha256: sha256Text }, { isStale: flag }),
      maxReports,
    ),
    /** Names of entries beside the reports that are no files. */
    unread: list(text(1024), maxReports),
    /** What the command left written in the workspace: `added` beside the tree, `changed` in it. */
    written: list(written, 10_000),
    /** Not all that was written is listed. */
    isCut: flag,
  },
  {
    exitCode: count(0, 255),
    signal: text(32),
    exceeded: object('to be a limit', {
      what: oneOf('memory', 'processes'),
      limit: count(0),
      found: count(0),
    }),
    /** The reports were above a limit: what is said of that. */
    excess: object('to be a finding', { message: text(4096), limit: count(0), unit: text(32) }),
  },
);
type Predicate = TypeOf<typeof predicateShape>;

const statementShape = object('to be a statement', {
  _type: oneOf(statementType),
  subject: list(
    object('to be a subject', { name: oneOf('action'), digest: object('a digest', { sha256: sha256Text }) }),
    1,
  ),
  predicateType: oneOf(predicateType),
  predicate: anything,
});

/** What a command came to, wherever it ran. */
export interface JobResult {
  readonly result: SandboxResult;
  readonly reports: readonly ReportFile[];
  readonly unread: readonly string[];
  readonly excess?: { readonly message: string; readonly limit: number; readonly unit: string };
  readonly written: Predicate['written'];
  readonly isCut: boolean;
}

/** A result that counts, and who signed it. */
export interface SignedResult extends JobResult {
  readonly worker: ListedWorker;
  readonly fence: number;
  /** The envelope, as it is kept with the run. */
  readonly envelope: Buffer;
}

/** Writes a signed result as a commit; its parents are none, so the same result has the same id. */
export async function commitResult(
  place: Scratch,
  { action, fence }: { readonly action: string; readonly fence: number },
  ran: JobResult,
  signer: Signer,
): Promise<string> {
  const { exitCode, signal, timedOut, exceeded, durationMs } = ran.result;
  const described = (of: CapturedOutput): TypeOf<typeof output> => ({
    sha256: sha256Hex(of.bytes),
    totalBytes: of.totalBytes,
    truncated: of.truncated,
  });
  const predicate: Predicate = {
    fence,
    timedOut,
    durationMs: Math.max(0, Math.round(durationMs)),
    stdout: described(ran.result.stdout),
    stderr: described(ran.result.stderr),
    combined: described(ran.result.combined),
    reports: ran.reports.map(({ name, bytes, isStale }) => ({
      name,
      sha256: sha256Hex(bytes),
      ...(isStale ? { isStale } : {}),
    })),
    unread: ran.unread,
    written: ran.written,
    isCut: ran.isCut,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(exceeded === undefined ? {} : { exceeded }),
    ...(ran.excess === undefined ? {} : { excess: ran.excess }),
  };
  const subject = [{ name: 'action' as const, digest: { sha256: action } }];
  const statement = { _type: statementType, subject, predicateType, predicate };
  const { payload, signature, keyId } = await signEnvelope(
    inTotoPayloadType,
    Buffer.from(canonicalize(statement)),
    signer,
  );
  const envelope = {
    payload: payload.toString('base64'),
    payloadType: inTotoPayloadType,
    signatures: [{ keyid: keyId, sig: signature.toString('base64') }],
  };
  const files = new Map<string, Uint8Array>([['envelope.json', Buffer.from(canonicalize(envelope))]]);
  for (const name of streams) files.set(name, ran.result[name].bytes);
  for (const [at, { bytes }] of ran.reports.entries()) files.set(`reports/${at}`, bytes);
  return commitFiles(place, files, 'writ result\n');
}

/** A worker whose results count. */
export interface ListedWorker {
  readonly name: string;
  readonly keyId: string;
  readonly key: KeyObject;
  readonly labels: readonly string[];
}

/** What a signed statement says, once one of the listed keys is shown to have signed it for this action. */
export function openStatement(
  envelopeBytes: Uint8Array,
  action: string,
  workers: readonly ListedWorker[],
): { readonly worker: ListedWorker; readonly predicate: Predicate } {
  const { value } = parseStrictJson(envelopeBytes, { code: 'JOB_REFUSED', maxBytes: maxEnvelopeBytes });
  const envelope = parseEnvelope(value, '');
  const worker = workers.find(({ keyId }) => keyId === envelope.keyId);
  if (worker === undefined)
    throw refused('result', `\`${workersPath}\` does not list its key ${envelope.keyId.slice(0, 16)}`);
  if (envelope.payloadType !== inTotoPayloadType) throw refused('result', 'it is no in-toto statement');
  const statement = readShape(statementShape, verifyEnvelope(envelope, worker.key), 'result');
  if (statement.subject[0]?.digest.sha256 !== action) throw refused('result', 'it is about another job');
  return {
    worker,
    predicate: readShape(predicateShape, Buffer.from(canonicalize(statement.predicate)), 'result'),
  };
}

/**
 * Reads a result that was fetched. It counts if a listed key signed it for this action, it answers this dispatch, it
 * keeps the limits of the job, and every byte beside it has the digest that was signed; else JOB_REFUSED.
 */
export async function readResult(
  place: Scratch,
  commit: string,
  { action, fence, job }: { readonly action: string; readonly fence: number; readonly job: Job },
  workers: readonly ListedWorker[],
): Promise<SignedResult> {
  const first = await readFiles(place, commit, ['envelope.json'], maxEnvelopeBytes);
  const envelope = first.get('envelope.json') ?? Buffer.alloc(0);
  const { worker, predicate } = openSaid(envelope, action, workers);
  if (predicate.fence !== fence)
    throw refused('result', `it answers dispatch ${predicate.fence}, and the last one is ${fence}`);
  const files = await readFiles(
    place,
    commit,
    [...streams, ...predicate.reports.map((_, at) => `reports/${at}`)],
    maxReportBytes,
  );
  const bytesOf = (path: string, sha256: string, maxBytes: number): Buffer => {
    const bytes = files.get(path) ?? Buffer.alloc(0);
    if (sha256Hex(bytes) !== sha256)
      throw refused('result', `\`${path}\` has another digest than was signed`);
    if (bytes.length > maxBytes) throw refused('result', `\`${path}\` has more than ${maxBytes} bytes`);
    return bytes;
  };
  let left = maxReportBytes;
  const reports = predicate.reports.map(({ name, sha256, isStale }, at): ReportFile => {
    if (name.includes('/') || name === '.' || name === '..')
      throw refused('result', 'a report has no plain name');
    const bytes = bytesOf(`reports/${at}`, sha256, left);
    left -= bytes.length;
    return { name, bytes, ...(isStale ? { isStale } : {}) };
  });
  const outputOf = (name: (typeof streams)[number]): CapturedOutput => {
    const { sha256, totalBytes, truncated } = predicate[name];
    // The middle of a long output is replaced by a line that says so.
    return { bytes: bytesOf(name, sha256, 2 * job.limits.maxOutputBytes + 1024), totalBytes, truncated };
  };
  const {
    exitCode,
    signal,
    timedOut,
    exceeded,
    durationMs,
    unread,
    written: paths,
    isCut,
    excess,
  } = predicate;
  return {
    worker,
    fence,
    envelope,
    result: {
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(exceeded === undefined ? {} : { exceeded }),
      timedOut,
      aborted: false,
      durationMs,
      stdout: outputOf('stdout'),
      stderr: outputOf('stderr'),
      combined: outputOf('combined'),
    },
    reports,
    unread,
    written: paths,
    isCut,
    ...(excess === undefined ? {} : { excess }),
  };
}

/** As `openStatement`; every fault of the envelope is JOB_REFUSED. */
function openSaid(...given: Parameters<typeof openStatement>): ReturnType<typeof openStatement> {
  try {
    return openStatement(...given);
  } catch (fault) {
    if (!isWritError(fault) || fault.code === 'JOB_REFUSED') throw fault;
    throw refused('result', fault.message, fault);
  }
}

const maxWorkers = 1000;

/**
 * Reads `.writ/workers`: one worker a line, `NAME [labels="A,B"] ssh-ed25519 BASE64`, as OpenSSH writes public keys;
 * `#` begins a comment. JOB_REFUSED names the line.
 */
export function readWorkers(bytes: Uint8Array | undefined): readonly ListedWorker[] {
  const found = new Map<string, ListedWorker>();
  const lines = Buffer.from(bytes ?? [])
    .toString('utf8')
    .split('\n');
  for (const [at, line] of lines.entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name, labels = '', type, blob] =
      /^([\w.@-]{1,100})(?: labels="([\w.,-]{1,1000})")? (ssh-ed25519|ecdsa-sha2-nistp256) ([A-Za-z0-9+/=]{40,400})(?: .*)?\r?$/.exec(
        line,
      ) ?? [];
    const octets = blob === undefined ? undefined : parseBase64(blob);
    const said = `line ${at + 1} of \`${workersPath}\``;
    if (name === undefined || octets === undefined || found.size >= maxWorkers)
      throw refused('key', `${said}: expected \`NAME [labels="A,B"] ssh-ed25519 BASE64\``);
    const { key, type: stated } = parseSshPublicKey(octets);
    const keyId = keyIdOf(key);
    if (stated !== type || found.has(keyId))
      throw refused('key', `${said}: the key is of another type, or listed twice`);
    found.set(keyId, { name, keyId, key, labels: labels.split(',').filter((label) => label !== '') });
  }
  return [...found.values()];
}

/** The line of `.writ/workers` for a key. */
export function workerLine(name: string, key: KeyObject, labels: readonly string[]): string {
  const { crv, x = '', y = '' } = key.export({ format: 'jwk' });
  const part = (text: string): Buffer => Buffer.from(text, 'base64url');
  const [type, ...parts] =
    crv === 'Ed25519'
      ? ['ssh-ed25519', part(x)]
      : ['ecdsa-sha2-nistp256', Buffer.from('nistp256'), Buffer.concat([Buffer.from([4]), part(x), part(y)])];
  const blob = Buffer.concat(
    [Buffer.from(`${type}`), ...parts.map((one) => Buffer.from(one))].map(wireString),
  );
  const said = labels.length === 0 ? '' : ` labels="${labels.join(',')}"`;
  return `${name}${said} ${type} ${blob.toString('base64')}`;
}
