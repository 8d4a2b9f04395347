/* Results of workers as statements: whose keys count (`.writ/workers`), how a result is signed and verified. */
import type { KeyObject } from 'node:crypto';
import { canonicalize, sha256 } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import {
  inTotoPayloadType,
  parseEnvelope,
  signEnvelope,
  toDsseEnvelope,
  verifyEnvelope,
} from '../encoding/dsse.ts';
import {
  expectArray,
  expectObject,
  expectText,
  parseBase64,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { keyIdOf } from '../encoding/public-key.ts';
import { parseSshPublicKey, sshKeyBlob } from '../encoding/ssh-wire.ts';
import { sha256Form, statementType } from './statement.ts';

export const workersPath = '.writ/workers';
const jobResultType = 'urn:writ:job-result:v1';
export const maxEnvelopeBytes = 16 * 1024 * 1024;
const maxWorkers = 1000;

/** A worker whose results count. */
export interface ListedWorker {
  readonly name: string;
  readonly keyId: string;
  readonly key: KeyObject;
  readonly labels: readonly string[];
  /** The age recipient for which secrets of jobs are encrypted. */
  readonly recipient?: string;
}

/** The bytes of a signed envelope (DSSE) around the statement that a job came to this. */
export async function signJobResult(action: string, predicate: object, signer: Signer): Promise<Buffer> {
  const subject = [{ name: 'action', digest: { sha256: action } }];
  const statement = { _type: statementType, subject, predicateType: jobResultType, predicate };
  const payload = Buffer.from(canonicalize(statement));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  return Buffer.from(canonicalize(toDsseEnvelope(envelope)));
}

/**
 * What a worker signed of this job, once one of the listed keys is shown to have signed it. VERIFY_REFUTED for an
 * unlisted key, a signature that does not fit, or another job; ATTESTATION_MALFORMED for another form.
 */
export function openJobResult(
  bytes: Uint8Array,
  action: string,
  workers: readonly ListedWorker[],
): { readonly worker: ListedWorker; readonly predicate: unknown } {
  const envelope = parseEnvelope(parseJsonObject(bytes, maxEnvelopeBytes), '');
  const worker = workers.find(({ keyId }) => keyId === envelope.keyId);
  if (worker === undefined)
    throw refuted(
      'untrusted-signer',
      `\`${workersPath}\` does not list its key ${envelope.keyId.slice(0, 16)}`,
    );
  if (envelope.payloadType !== inTotoPayloadType) throw refuted('wrong-type', 'it is no in-toto statement');
  const payload = verifyEnvelope(envelope, worker.key);
  const members = ['_type', 'subject', 'predicateType', 'predicate'];
  const statement = expectObject(parseJsonObject(payload, maxEnvelopeBytes), '', members);
  expectText(statement._type, '/_type', new RegExp(`^${statementType}$`));
  expectText(statement.predicateType, '/predicateType', new RegExp(`^${jobResultType}$`));
  const [subject] = expectArray(statement.subject, '/subject', 1);
  const { digest } = expectObject(subject, '/subject/0', ['name', 'digest']);
  const about = expectText(
    expectObject(digest, '/subject/0/digest').sha256,
    '/subject/0/digest/sha256',
    sha256Form,
  );
  if (about !== action) throw refuted('wrong-subject', 'it is about another job');
  return { worker, predicate: statement.predicate };
}

/** Whether a reusable result runs again as a sample: by the seed that the run recorded, for `percent` of all keys. */
export function isSampled(seed: string, conditions: string, percent: number): boolean {
  return sha256(`${seed} ${conditions}`).readUIntBE(0, 6) * 100 < percent * 2 ** 48;
}

/**
 * Reads `.writ/workers`: one worker a line, `NAME [labels="A,B"] ssh-ed25519 BASE64 [age1…]`, as OpenSSH writes public
 * keys. Older readers skip what follows the key. `#` begins a comment. KEY_UNUSABLE names the line.
 */
export function readWorkers(bytes: Uint8Array | undefined): readonly ListedWorker[] {
  const found = new Map<string, ListedWorker>();
  const lines = Buffer.from(bytes ?? [])
    .toString('utf8')
    .split('\n');
  for (const [at, line] of lines.entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name, labels = '', type, blob, more = ''] =
      /^([\w.@-]{1,100})(?: labels="([\w.,-]{1,1000})")? (ssh-ed25519|ecdsa-sha2-nistp256) ([A-Za-z0-9+/=]{40,400})(?: (.*?))?\r?$/.exec(
        line,
      ) ?? [];
    const [recipient] = /^age1\S*/.exec(more) ?? [];
    const isRecipient = recipient === undefined || /^age1[0-9a-z]{58}$/.test(recipient);
    const octets = blob === undefined ? undefined : parseBase64(blob);
    if (name === undefined || octets === undefined || !isRecipient || found.size >= maxWorkers)
      throw unusable(at, 'expected `NAME [labels="A,B"] ssh-ed25519 BASE64 [age1…]`');
    const { key, type: stated } = parseSshPublicKey(octets);
    const keyId = keyIdOf(key);
    if (stated !== type || found.has(keyId))
      throw unusable(at, 'the key is of another type, or listed twice');
    if (recipient !== undefined && [...found.values()].some((one) => one.recipient === recipient))
      throw unusable(at, 'its recipient is listed twice');
    found.set(keyId, {
      ...{ name, keyId, key, labels: labels.split(',').filter((label) => label !== '') },
      ...(recipient === undefined ? {} : { recipient }),
    });
  }
  return [...found.values()];
}

/** The line of `.writ/workers` for a key, with the recipient of its secrets. */
export function workerLine(
  name: string,
  key: KeyObject,
  labels: readonly string[],
  recipient?: string,
): string {
  const blob = sshKeyBlob(key);
  const { type } = parseSshPublicKey(blob);
  const said = labels.length === 0 ? '' : ` labels="${labels.join(',')}"`;
  return `${name}${said} ${type} ${blob.toString('base64')}${recipient === undefined ? '' : ` ${recipient}`}`;
}

function unusable(line: number, why: string): WritError {
  return new WritError('KEY_UNUSABLE', {
    message: `line ${line + 1} of \`${workersPath}\` cannot be used: ${why}`,
    detail: { line: line + 1 },
  });
}

function refuted(reason: string, message: string): WritError {
  return new WritError('VERIFY_REFUTED', { message, detail: { reason } });
}
