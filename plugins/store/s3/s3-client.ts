/* Puts, reads, lists and deletes objects of one bucket, and believes no answer that it cannot check. */
import { createHash } from 'node:crypto';
import type { AwsV4Signer } from 'aws4fetch';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../../../core/base/clock.ts';
import { isWritError, WritError } from '../../../core/base/errors.ts';
import type { OpenAnswer } from '../../../core/base/http-question.ts';
import { randomOctets } from '../../../core/base/ids.ts';
import type { createStreamer } from '../../../core/base/net.ts';
import type { S3Place } from '../../../engine/config/table-reader.ts';

type Streamer = ReturnType<typeof createStreamer>['stream'];

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Limits of one client; tests shorten them. */
export interface S3Pace {
  /** Tries of one request. */
  readonly attempts: number;
  /** The wait before try n is random, at most `baseMs` * 2^n, and at most `mostMs`, which also bounds `Retry-After`. */
  readonly baseMs: number;
  readonly mostMs: number;
  /** Until the headers of an answer, and between two pieces of it. */
  readonly withinMs: number;
  /** One try as a whole. */
  readonly wholeMs: number;
  /** Requests at once. */
  readonly atOnce: number;
  /** Larger content goes up in parts of this size; S3 wants 5 MiB at least. */
  readonly partBytes: number;
}

const usualPace: S3Pace = {
  attempts: 5,
  baseMs: 200,
  mostMs: 20_000,
  withinMs: 30_000,
  wholeMs: 300_000,
  atOnce: 4,
  partBytes: 16 * 1024 * 1024,
};

export interface S3Options {
  readonly stream: Streamer;
  /** `again`: the last ones have expired. */
  readonly credentials: (again: boolean) => Promise<S3Credentials>;
  readonly clock: Clock;
  readonly pace?: Partial<S3Pace>;
}

/** Recorded facts of an object; bytes that do not match are refused. */
interface Expected {
  readonly sha256: string;
  readonly sizeBytes: number;
}

interface Request {
  readonly method: Parameters<Streamer>[0]['method'];
  /** Below the prefix; absent: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that the caller reads, besides 200 to 206. */
  readonly also?: readonly number[];
  /** Content of this size and digest, instead of an XML document. */
  readonly content?: Expected & { readonly keep: boolean };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type S3Client = ReturnType<typeof openS3>;

/** Every fault of a server in words that are safe to show. */
const maxXmlBytes = 2 * 1024 * 1024;
const retriedStatuses: readonly number[] = [408, 409, 429, 500, 502, 503, 504];
/** Of statuses that are not retried otherwise: the request was damaged on its way, or too slow. */
const retriedCodes: readonly string[] = [
  'RequestTimeout',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'InvalidDigest',
];
const expiredCodes: readonly string[] = ['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired'];
/** Reasons of faults that a retry may mend. */
const passing: readonly string[] = ['slow', 'error-body', 'unreachable', 'stalled', 'dropped'];
const onlyIfAbsent = { 'if-none-match': '*' };

export function openS3(place: S3Place, { stream, credentials, clock, pace: given }: S3Options) {
  const pace = { ...usualPace, ...given };
  const base = new URL(place.endpoint);
  if (!place.pathStyle) base.host = `${place.bucket}.${base.host}`;
  const root = `${base.origin}${base.pathname.replace(/\/$/, '')}${place.pathStyle ? `/${place.bucket}` : ''}`;
  let held: Promise<S3Credentials> | undefined;
  let signer: Promise<typeof AwsV4Signer> | undefined;
  let proof: Promise<void> | undefined;

  async function sign({ method, key, query = {}, headers = {}, body }: Request) {
    signer ??= import('aws4fetch').then(({ AwsV4Signer: found }) => found);
    held ??= credentials(false);
    const [Signer, keys] = [await signer, await held];
    const path = key === undefined ? '' : (place.prefix + key).split('/').map(encodeURIComponent).join('/');
    const url = new URL(`${root}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signed = await new Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sha256Hex(body ?? Buffer.alloc(0)) },
      ...keys,
      service: 's3',
      region: place.region,
      datetime: toRfc3339(clock.now()).replace(/[:-]|\.\d{3}/g, ''),
    }).sign();
    return { url: signed.url.href, headers: Object.fromEntries(signed.headers) };
  }

  async function tryOnce(request: Request): Promise<Answer> {
    const { method, body, content } = request;
    const time = AbortSignal.timeout(pace.wholeMs);
    try {
      await using answer = await stream({
        method,
        ...(await sign(request)),
        ...(body === undefined ? {} : { body }),
        withinMs: pace.withinMs,
        idleMs: pace.withinMs,
        maxBytes: Math.max(content?.sizeBytes ?? 0, maxXmlBytes),
        signal: time,
      });
      const { status, headers } = answer;
      if (content === undefined || status < 200 || status > 206)
        return { status, headers, body: await readAll(answer) };
      const read = await readContent(answer, content);
      // Recognised here, because a retry may find the content.
      if ('code' in read)
        throw refused('error-body', `GET was answered ${status}, and ${read.code} in the body`);
      return { status, headers, body: read.body };
    } catch (cause) {
      if (!time.aborted) throw cause;
      throw refused('slow', `no whole answer within ${pace.wholeMs} ms`);
    }
  }

  /** One request with its retries. STORE_REFUSED, NETWORK_FAILED, or OBJECT_CORRUPT for wrong content. */
  async function send(request: Request): Promise<Answer> {
    let renewed = false;
    for (let tries = 1; ; tries += 1) {
      let fault: WritError;
      let waitMs = 0;
      try {
        const answer = await tryOnce(request);
        const { status } = answer;
        const code = request.content && status < 300 ? undefined : codeIn(answer.body);
        if (request.also?.includes(status)) return answer;
        // Some operations fail after the status line was sent: the body of a 200 is then an error.
        if (status >= 200 && status <= 206 && code === undefined) return answer;
        fault = refusedBy(request, status, code);
        if (expiredCodes.includes(code ?? '') && !renewed) {
          renewed = true;
          held = credentials(true);
          continue;
        }
        const isPassing =
          status < 300 || retriedStatuses.includes(status) || retriedCodes.includes(code ?? '');
        if (!isPassing) throw fault;
        waitMs = Math.min(1000 * (Number(answer.headers['retry-after']) || 0), pace.mostMs);
      } catch (cause) {
        const isOfStore = isWritError(cause, 'NETWORK_FAILED') || isWritError(cause, 'STORE_REFUSED');
        if (!isOfStore || !passing.includes(String(cause.detail.reason))) throw cause;
        fault = cause;
      }
      if (tries >= pace.attempts) throw fault;
      const jitter =
        (randomOctets(2).readUInt16BE() / 65_536) * Math.min(pace.baseMs * 2 ** tries, pace.mostMs);
      await clock.sleep(Math.max(waitMs, jitter));
    }
  }

  function refusedBy({ method, key }: Request, status: number, code: string | undefined): WritError {
    if (status >= 300 && status < 400)
      return refused(
        'redirect',
        `${method} was redirected, which writ does not follow: correct \`endpoint\`, \`region\` or \`path_style\` in \`[store.s3]\``,
      );
    const what = `${method} \`${key === undefined ? place.bucket : place.prefix + key}\` was answered ${status}${code === undefined ? '' : ` ${code}`}`;
    return refused('answer', what, { status, ...(code === undefined ? {} : { answer: code }) });
  }

  function refused(reason: string, found: string, more: Readonly<Record<string, unknown>> = {}): WritError {
    return new WritError('STORE_REFUSED', {
      message: `the object store \`${base.origin}\`: ${found}`,
      detail: { origin: base.origin, bucket: place.bucket, reason, found, ...more },
    });
  }

  async function look(key: string, expected: Expected, keep: boolean): Promise<Buffer | undefined> {
    const { status, body } = await send({ method: 'GET', key, also: [404], content: { ...expected, keep } });
    if (status !== 404) return body;
    // A missing bucket is no missing object.
    const code = codeIn(body);
    if (code !== undefined && code !== 'NoSuchKey') throw refusedBy({ method: 'GET', key }, status, code);
    return undefined;
  }

  /** The status of a conditional put. */
  async function putIfAbsent(
    key: string,
    body: Uint8Array,
    contentType: string,
    inParts = body.length > pace.partBytes,
  ): Promise<number> {
    const headers = { ...onlyIfAbsent, 'content-type': contentType };
    if (!inParts) return (await send({ method: 'PUT', key, headers, body, also: [412] })).status;
    const started = await send({
      method: 'POST',
      key,
      query: { uploads: '' },
      headers: { 'content-type': contentType },
    });
    const uploadId = textIn(started.body, 'UploadId');
    if (uploadId === undefined) throw refused('answer', 'it began no upload');
    try {
      const starts = Array.from(
        { length: Math.ceil(body.length / pace.partBytes) },
        (_, index) => index * pace.partBytes,
      );
      const tags: string[] = [];
      await forEachOf(starts.entries(), pace.atOnce, async ([index, from]) => {
        const part = body.subarray(from, from + pace.partBytes);
        const query = { partNumber: String(index + 1), uploadId };
        const { headers: got } = await send({ method: 'PUT', key, query, body: part });
        const tag = /^"?([\w.-]{1,200})"?$/.exec(got.etag ?? '')?.[1];
        if (tag === undefined) throw refused('answer', 'it gave no ETag for a part');
        tags[index] = tag;
      });
      const parts = tags.map(
        (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${tag}"</ETag></Part>`,
      );
      const xml = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
      // 404: an earlier try, whose answer was lost, has completed it.
      const { status } = await send({
        method: 'POST',
        key,
        query: { uploadId },
        headers: onlyIfAbsent,
        body: xml,
        also: [404, 412],
      });
      if (status === 412) await abort(key, uploadId);
      return status;
    } catch (fault) {
      await abort(key, uploadId).catch(() => undefined);
      throw fault;
    }
  }

  async function abort(key: string, uploadId: string): Promise<void> {
    await send({ method: 'DELETE', key, query: { uploadId }, also: [404] });
  }

  function unconditional(key: string): WritError {
    return new WritError('STORE_UNCONDITIONAL', {
      message: `the object store \`${base.origin}\` accepts \`If-None-Match: *\`, but overwrites the object anyway`,
      detail: { origin: base.origin, bucket: place.bucket, key: place.prefix + key },
    });
  }

  /** One object that every process puts first: a store that honours conditions has taken it once, and says 412. */
  async function prove(): Promise<void> {
    const putOnce = () => putIfAbsent('probe/once', Buffer.from('once\n'), 'text/plain');
    if ((await putOnce()) !== 412 && (await putOnce()) !== 412) throw unconditional('probe/once');
  }

  return {
    /**
     * Stores content under a key that has none; the same content may be there already. STORE_UNCONDITIONAL for a store
     * that overwrites, found out once per process; OBJECT_CORRUPT if the key holds other bytes.
     */
    async put(key: string, body: Uint8Array, contentType: string): Promise<void> {
      proof ??= prove();
      await proof.catch((fault: unknown) => {
        proof = undefined;
        throw fault;
      });
      const expected = { sha256: sha256Hex(body), sizeBytes: body.length };
      const status = await putIfAbsent(key, body, contentType);
      if (status !== 404 && status !== 412) return;
      // Perhaps an earlier try of ours won, perhaps not: only the bytes decide.
      if ((await look(key, expected, false)) === undefined)
        throw refused('answer', `it has no object \`${place.prefix}${key}\`, and refuses to store it`);
    },

    /** `undefined` where there is none; OBJECT_CORRUPT for other bytes. */
    get: (key: string, expected: Expected): Promise<Buffer | undefined> => look(key, expected, true),

    /** Size by the server's word; `undefined` where there is no such object. */
    async size(key: string): Promise<number | undefined> {
      const { status, headers } = await send({ method: 'HEAD', key, also: [404] });
      return status === 404 ? undefined : Number(headers['content-length']);
    },

    async remove(key: string): Promise<void> {
      await send({ method: 'DELETE', key, also: [404] });
    },

    /** Keys below a folder of the prefix, and unfinished uploads there, which are ended. */
    async clear(folder: string, isOurs: (name: string) => boolean): Promise<void> {
      for (let page = 0; page < 1000; page += 1) {
        const { body } = await send({
          method: 'GET',
          query: { 'list-type': '2', prefix: place.prefix + folder },
        });
        const keys = textsIn(body, 'Key').filter((key) => key.startsWith(place.prefix + folder));
        const names = keys
          .map((key) => key.slice(place.prefix.length))
          .filter((name) => isOurs(name.slice(folder.length)));
        // Deleting makes room on the first page.
        await forEachOf(names, pace.atOnce, (name) => this.remove(name));
        if (names.length === 0 || textIn(body, 'IsTruncated') !== 'true') break;
      }
      const { status, body } = await send({
        method: 'GET',
        query: { uploads: '', prefix: place.prefix + folder },
        also: [501],
      });
      if (status === 501) return;
      for (const [, upload = ''] of body.toString('utf8').matchAll(/<Upload>(.*?)<\/Upload>/gs)) {
        const [key = '', id] = [textIn(Buffer.from(upload), 'Key'), textIn(Buffer.from(upload), 'UploadId')];
        if (id !== undefined && key.startsWith(place.prefix + folder))
          await abort(key.slice(place.prefix.length), id);
      }
    },

    /** Two writers at one key, and an upload in parts over it: STORE_UNCONDITIONAL unless exactly one of them wins. */
    async tryWriters(): Promise<void> {
      const key = `probe/${randomOctets(16).toString('hex')}`;
      const texts = ['one', 'two'].map((word) => Buffer.from(`${word} of two writers\n`));
      try {
        const statuses = await Promise.all(texts.map((text) => putIfAbsent(key, text, 'text/plain')));
        const winners = texts.filter((_, index) => statuses[index] !== 412);
        const [winner] = winners;
        if (winner === undefined || winners.length !== 1) throw unconditional(key);
        const expected = { sha256: sha256Hex(winner), sizeBytes: winner.length };
        if ((await look(key, expected, false)) === undefined)
          throw refused('answer', 'what it stored is not there');
        // One part, because all but the last must have 5 MiB.
        if ((await putIfAbsent(key, Buffer.from('in parts'), 'text/plain', true)) !== 412)
          throw unconditional(key);
      } finally {
        await send({ method: 'DELETE', key, also: [404] }).catch(() => undefined);
      }
    },
  };
}

async function readAll(answer: OpenAnswer): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of answer.body) parts.push(part);
  return Buffer.concat(parts);
}

/** OBJECT_CORRUPT as soon as there are more bytes than recorded, and for another digest at the end. */
async function readContent(
  answer: OpenAnswer,
  { sha256, sizeBytes, keep }: NonNullable<Request['content']>,
): Promise<{ readonly body: Buffer } | { readonly code: string }> {
  const hash = createHash('sha256');
  const parts: Uint8Array[] = [];
  let head: Uint8Array | undefined;
  let size = 0;
  for await (const part of answer.body) {
    head ??= part;
    size += part.length;
    if (size > sizeBytes) break;
    hash.update(part);
    if (keep) parts.push(part);
  }
  const found = size > sizeBytes ? `more than ${sizeBytes} bytes` : hash.digest('hex');
  if (found === sha256) return { body: Buffer.concat(parts) };
  const code = head && codeIn(Buffer.from(head));
  if (code !== undefined) return { code };
  throw new WritError('OBJECT_CORRUPT', {
    message: `the stored object \`${sha256}\` has other content in the object store`,
    detail: { object: sha256, expected: sha256, found },
  });
}

/** The `<Code>` of an S3 error document. */
function codeIn(body: Buffer): string | undefined {
  const text = body.subarray(0, 4096).toString('utf8');
  if (!/<Error[\s>]/.test(text)) return undefined;
  return /<Code>\s*([A-Za-z0-9._-]{1,80})\s*<\/Code>/.exec(text)?.[1] ?? 'Error';
}

function textIn(body: Buffer, name: string): string | undefined {
  return textsIn(body, name)[0];
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function textsIn(body: Buffer, name: string): readonly string[] {
  const found = body.toString('utf8').matchAll(new RegExp(`<${name}>([^<]{1,2048})</${name}>`, 'g'));
  return [...found].map(([, text = '']) =>
    text.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity) => entities[entity] ?? ''),
  );
}

/** Runs `act` for every item, `atOnce` at a time. After a failure none starts; throws when all have ended. */
export async function forEachOf<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  atOnce: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const faults: unknown[] = [];
  const running = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      const one: Promise<void> = act(item)
        .catch((fault: unknown) => void faults.push(fault))
        .finally(() => running.delete(one));
      running.add(one);
      if (running.size >= atOnce) await Promise.race(running);
      if (faults.length > 0) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (faults.length > 0) throw faults[0];
}
