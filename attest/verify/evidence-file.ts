import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { parseBase64 } from '../encoding/base64.ts';
import { expectArray, expectObject, expectText } from '../encoding/expect-json.ts';
import { cutTexts, decodeCut } from './cut-texts.ts';
import type { EvidenceSource } from './evidence-source.ts';
import { logSnapshot } from './log-snapshot.ts';

/** Media type of a run's evidence in one file (`docs/schemas/evidence.v1.json`). */
export const evidenceMediaType = 'application/vnd.writ.evidence.v1+json';

/** Most octets of such a file. */
export const maxEvidenceFileBytes = 256 * 1024 * 1024;

const maxFiles = 100_000;

/** Names and what holds them together; a document beyond is refused before any of it is made into values. */
const limits = { members: ['data', 'object'], maxTokens: 3_000_000, maxSkeletonBytes: 32 * 1024 * 1024 };

/** A run's evidence out of one file. Nothing in it is trusted. */
export interface EvidenceFile {
  /** The run that the file says to be about. */
  readonly runId: string;
  readonly source: EvidenceSource;
}

/**
 * Everything that verification looks at, in one self-contained document: commit object, run tree, content as far as
 * retention has left it, and what tells the log from others ({@link logSnapshot}, unless it was taken already). Same
 * source, same bytes. More than 256 MiB is INPUT_TOO_LARGE.
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
    // Retention takes a run's content away as a whole.
    content: content.length === 0 ? null : content,
    // The log was not at hand.
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
  if (raw === undefined || raw().length === 0) throw noBase64('/commit/object');
  return {
    runId: expectText(file.runId, '/runId', /^[!-~]{1,128}$/),
    source: {
      commit: {
        id: expectText(commit.id, '/commit/id', /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
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

/** Content that is decoded when it is asked for, so that a document is not held twice. */
type Decode = () => Buffer;
type ReadText = (value: unknown, at: string) => Decode | undefined;

const noFiles: ReadonlyMap<string, Decode> = new Map();

/** Reads base64 that stands in the document, or was cut out of it; each that was cut out stands in one place. */
function readerOf(texts: readonly Buffer[]): ReadText {
  const used = new Set<number>();
  return (value, at) => {
    const text = expectText(value, at);
    const place = /^@(\d{1,6})$/.exec(text)?.[1];
    if (place === undefined) {
      // An empty file is base64 of nothing.
      const bytes = parseBase64(text);
      return bytes && (() => bytes);
    }
    const cut = texts[Number(place)];
    if (cut === undefined || used.has(Number(place))) return undefined;
    used.add(Number(place));
    return () => decodeCut(cut);
  };
}

function noBase64(path: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected base64 at \`${path}\``,
    detail: { path },
  });
}

function readFiles(value: unknown, at: string, readText: ReadText): ReadonlyMap<string, Decode> {
  const files = new Map<string, Decode>();
  for (const [n, item] of expectArray(value, at, maxFiles).entries()) {
    const file = expectObject(item, `${at}/${n}`, ['path', 'data']);
    const path = expectText(file.path, `${at}/${n}/path`, /^[^\p{Cc}]{1,4096}$/u);
    const data = readText(file.data, `${at}/${n}/data`);
    if (data === undefined) throw noBase64(`${at}/${n}`);
    if (files.has(path))
      throw new WritError('ATTESTATION_MALFORMED', {
        message: `expected each path once at \`${at}/${n}\``,
        detail: { path: `${at}/${n}` },
      });
    files.set(path, data);
  }
  return files;
}
