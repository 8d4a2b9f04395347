/* A run's evidence in one file: formats it, parses it, and creates the snapshot of its log. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { parseBundle } from '../bundle/bundle.ts';
import { expectArray, expectObject, expectText, malformedAt, parseBase64 } from '../encoding/expect-json.ts';
import { checkpointIn, checkpointOfProof } from '../log/checkpoint.ts';
import { readHistory } from '../log/ledger-reader.ts';
import { gitIdForm } from '../statement/statement.ts';
import { type EvidenceSource, readLogProof, runFiles } from './evidence-source.ts';
import { readProvenance } from './provenance-claims.ts';

/** Media type of a run's evidence in one file (`docs/schemas/evidence.v1.json`). */
export const evidenceMediaType = 'application/vnd.writ.evidence.v1+json';

/** Most octets of such a file. */
export const maxEvidenceFileBytes = 256 * 1024 * 1024;

const maxFiles = 100_000;

/** Names and what holds them together; a document beyond is refused before any of it is made into values. */
const limits = { members: ['data', 'object'], maxTokens: 3_000_000, maxSkeletonBytes: 32 * 1024 * 1024 };

/** A run's evidence from one file, untrusted. */
interface EvidenceFile {
  /** The run id that the file claims. */
  readonly runId: string;
  readonly source: EvidenceSource;
}

/**
 * Formats everything that verification reads as one self-contained document: commit object, run tree, content that
 * retention has left, and the snapshot of the log ({@link logSnapshot}, unless the caller has one). Same source, same
 * bytes. More than 256 MiB is INPUT_TOO_LARGE.
 */
export async function formatEvidenceFile(
  runId: string,
  source: EvidenceSource,
  snapshot?: ReadonlyMap<string, Buffer>,
): Promise<string> {
  let total = 0;
  const load = async (
    paths: readonly string[],
    read: (path: string) => Promise<Uint8Array | undefined>,
  ): Promise<readonly { readonly path: string; readonly data: string }[]> => {
    const files: { readonly path: string; readonly data: string }[] = [];
    for (const path of [...paths].sort()) {
      const bytes = await read(path);
      if (bytes === undefined) continue;
      const data = Buffer.from(bytes).toString('base64');
      total += path.length + data.length + 32;
      if (total > maxEvidenceFileBytes - 4096)
        throw new WritError('INPUT_TOO_LARGE', {
          message: `the evidence of run \`${runId}\` does not fit into a file of ${maxEvidenceFileBytes} octets`,
          detail: { run_id: runId, expected: maxEvidenceFileBytes },
        });
      files.push({ path, data });
    }
    return files;
  };
  const run = await load(await source.listRun(), source.readRun);
  const content = await load(await source.listContent(), source.readContent);
  const log = snapshot ?? (await logSnapshot(source));
  const ledger = await load([...(log?.keys() ?? [])], async (path) => log?.get(path));
  return `${JSON.stringify({
    mediaType: evidenceMediaType,
    runId,
    commit: { id: source.commit.id, object: Buffer.from(source.commit.raw).toString('base64') },
    run,
    // Retention removes a run's content as a whole.
    content: content.length === 0 ? null : content,
    // The log was not available.
    ledger: ledger.length === 0 ? null : ledger,
  })}\n`;
}

/**
 * Reads such a document: strict JSON up to 256 MiB, four levels and 100,000 files, no other member, each path once.
 * ATTESTATION_MALFORMED.
 */
export function parseEvidenceFile(bytes: Uint8Array): EvidenceFile {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cut = bytes.length > maxEvidenceFileBytes ? undefined : cutTexts(whole, limits);
  if (cut === undefined)
    throw new WritError('ATTESTATION_MALFORMED', {
      message: `expected at most ${maxEvidenceFileBytes} octets, ${maxFiles} files, and ${limits.maxSkeletonBytes} octets that are no content, found more`,
      detail: { expected: maxEvidenceFileBytes, found: bytes.length },
    });
  const options = { maxBytes: limits.maxSkeletonBytes + 16 * cut.texts.length, maxDepth: 4 };
  const { value } = parseStrictJson(cut.skeleton, { code: 'ATTESTATION_MALFORMED', ...options });
  const readText = readerOf(cut.texts);
  const file = expectObject(value, '', ['mediaType', 'runId', 'commit', 'run', 'content', 'ledger']);
  expectText(file.mediaType, '/mediaType', /^application\/vnd\.writ\.evidence\.v1\+json$/);
  const commit = expectObject(file.commit, '/commit', ['id', 'object']);
  const run = readFiles(file.run, '/run', readText);
  const content = file.content === null ? noFiles : readFiles(file.content, '/content', readText);
  const ledger = file.ledger === null ? noFiles : readFiles(file.ledger, '/ledger', readText);
  const raw = readText(commit.object, '/commit/object');
  if (raw === undefined || raw().length === 0) throw malformedAt('/commit/object', 'base64');
  return {
    runId: expectText(file.runId, '/runId', /^[!-~]{1,128}$/),
    source: {
      commit: {
        id: expectText(commit.id, '/commit/id', gitIdForm),
        raw: raw(),
      },
      listRun: async () => [...run.keys()],
      readRun: async (path) => run.get(path)?.(),
      listContent: async () => [...content.keys()],
      readContent: async (path) => content.get(path)?.(),
      readSnapshot: async (path) => ledger.get(path)?.(),
    },
  };
}

/** Content is decoded on demand, so that a document is not held twice. */
type Decode = () => Buffer;
type ReadText = (value: unknown, at: string) => Decode | undefined;

const noFiles: ReadonlyMap<string, Decode> = new Map();

/** Reads base64 that is in the document or was cut out of it; each cut text belongs to one place. */
function readerOf(texts: readonly Buffer[]): ReadText {
  const used = new Set<number>();
  return (value, at) => {
    const text = expectText(value, at);
    const place = /^@(\d{1,6})$/.exec(text)?.[1];
    if (place === undefined) {
      // The base64 of an empty file is the empty string.
      const bytes = parseBase64(text);
      return bytes && (() => bytes);
    }
    const cut = texts[Number(place)];
    if (cut === undefined || used.has(Number(place))) return undefined;
    used.add(Number(place));
    return () => decodeCut(cut);
  };
}

function readFiles(value: unknown, at: string, readText: ReadText): ReadonlyMap<string, Decode> {
  const files = new Map<string, Decode>();
  for (const [n, item] of expectArray(value, at, maxFiles).entries()) {
    const file = expectObject(item, `${at}/${n}`, ['path', 'data']);
    const path = expectText(file.path, `${at}/${n}/path`, /^[^\p{Cc}]{1,4096}$/u);
    const data = readText(file.data, `${at}/${n}/data`);
    if (data === undefined) throw malformedAt(`${at}/${n}`, 'base64');
    if (files.has(path)) throw malformedAt(`${at}/${n}`, 'each path once');
    files.set(path, data);
  }
  return files;
}

/** A JSON document without its long base64. */
interface CutJson {
  /** The document with `"@0"`, `"@1"` and so on in place of what was cut out. */
  readonly skeleton: Buffer;
  /** The cut texts, verbatim. */
  readonly texts: readonly Buffer[];
}

interface CutLimits {
  /** Members with values to cut out. */
  readonly members: readonly string[];
  /** Most texts, members and items. */
  readonly maxTokens: number;
  /** Most octets that are not cut out. */
  readonly maxSkeletonBytes: number;
}

/** Shorter texts are left where they are. */
const minCut = 64;
const chunk = 1024 * 1024;
const [quote, backslash, equals, colon] = [0x22, 0x5c, 0x3d, 0x3a];
const separators = new Set([0x2c, colon, 0x5b, 0x7b]);
const letters = /^[A-Za-z0-9+/]*$/;
/** Last base64 letters before one `=` and before two, those with zero spare bits. */
const [lastOfTwo, lastOfOne] = [octetsOf('AEIMQUYcgkosw048'), octetsOf('AQgw')];

function octetsOf(letters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const octet of Buffer.from(letters)) table[octet] = 1;
  return table;
}

/**
 * Scans JSON octet by octet before any of it is parsed, and cuts out long strict base64 under the given member names. A
 * hostile document costs no more than its octets, an honest one little more. `undefined` beyond the limits. The caller
 * parses the rest.
 */
export function cutTexts(
  bytes: Buffer,
  { members, maxTokens, maxSkeletonBytes }: CutLimits,
): CutJson | undefined {
  const pieces: Buffer[] = [];
  const texts: Buffer[] = [];
  let [tokens, cutBytes, from] = [0, 0, 0];
  // The last text, and whether it was followed by a colon: then it names what comes.
  let [name, isNamed] = ['', false];
  for (let at = 0; at < bytes.length; at += 1) {
    if (tokens > maxTokens || at - cutBytes > maxSkeletonBytes) return undefined;
    const octet = bytes[at] ?? 0;
    if (octet !== quote) {
      if (separators.has(octet)) tokens += 1;
      if (separators.has(octet)) isNamed = octet === colon;
      continue;
    }
    const end = endOfText(bytes, at);
    tokens += 1;
    const isCut = isNamed && members.includes(name) && end - at > minCut;
    if (isCut && isStrictBase64(bytes.subarray(at + 1, end))) {
      pieces.push(bytes.subarray(from, at), Buffer.from(`"@${texts.length}"`));
      texts.push(bytes.subarray(at + 1, end));
      cutBytes += end + 1 - at;
      from = end + 1;
    }
    name = end - at > 32 ? '' : bytes.toString('latin1', at + 1, end);
    isNamed = false;
    at = end;
  }
  if (bytes.length - cutBytes > maxSkeletonBytes) return undefined;
  return { skeleton: Buffer.concat([...pieces, bytes.subarray(from)]), texts };
}

/** The closing quote, or the end of the document. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = bytes.indexOf(quote, at + 1);
    if (at < 0) return bytes.length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}

function isStrictBase64(text: Buffer): boolean {
  if (text.length % 4 !== 0) return false;
  const padding = text.at(-1) !== equals ? 0 : text.at(-2) !== equals ? 1 : 2;
  const end = text.length - padding;
  // By the runtime, in pieces: a text of the whole length would be held beside the document.
  for (let at = 0; at < end; at += chunk)
    if (!letters.test(text.toString('latin1', at, Math.min(at + chunk, end)))) return false;
  const last = text[end - 1] ?? 0;
  return padding === 0 || (padding === 1 ? lastOfTwo : lastOfOne)[last] === 1;
}

/** Decodes cut base64 in pieces, without a string of its whole length. */
export function decodeCut(text: Buffer): Buffer {
  const padding = text.at(-1) !== equals ? 0 : text.at(-2) !== equals ? 1 : 2;
  const bytes = Buffer.alloc((text.length / 4) * 3 - padding);
  let written = 0;
  for (let at = 0; at < text.length; at += chunk)
    written += bytes.write(text.toString('latin1', at, at + chunk), written, 'base64');
  return bytes;
}

const maxAttempts = 8;

/**
 * The files that exported evidence holds of its log: the current checkpoint, and the hash tiles that let a verifier
 * compare any size it has seen. `undefined` where the log of the proof is absent or damaged.
 */
export async function logSnapshot({
  readRun,
  readLedger,
  readSnapshot,
}: EvidenceSource): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const proof = await readLogProof(readRun);
  const read = readLedger ?? readSnapshot;
  if (proof === undefined || read === undefined) return undefined;
  const origin = checkpointOfProof(proof)?.origin;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const head = checkpointIn(await read('checkpoint'));
    if (head === undefined || head.origin !== origin) return undefined;
    try {
      return new Map([['checkpoint', Buffer.from(head.source)], ...(await readHistory(read, head))]);
    } catch (fault) {
      if (!isWritError(fault, 'LEDGER_CORRUPT')) throw fault;
      // An append replaced its last tiles: the next head then reads whole.
      if (checkpointIn(await read('checkpoint'))?.size === head.size) return undefined;
    }
  }
  return undefined;
}

/** True if the run's signer names an internal ledger and the log proof is present. Verifies nothing. */
export async function isInLedger({ readRun }: Pick<EvidenceSource, 'readRun'>): Promise<boolean> {
  const [bundle, proof] = [await readRun(runFiles.bundle), await readRun(runFiles.proof)];
  if (bundle === undefined || proof === undefined) return false;
  try {
    const claims = readProvenance(parseBundle(bundle).envelope.payload);
    return claims.ledger !== undefined;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_REFUTED')) return false;
    throw fault;
  }
}
