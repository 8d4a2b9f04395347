/* A run's evidence in one file: formats it, parses it, and creates the snapshot of its log. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { parseBundle } from '../bundle/bundle.ts';
import {
  expectArray,
  expectBase64,
  expectObject,
  expectText,
  malformedAt,
  parseBase64,
} from '../encoding/expect-json.ts';
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

/** Most members and items of a document; more would take too much memory as values. */
const maxValues = 3_000_000;

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
  if (bytes.length > maxEvidenceFileBytes || countSeparators(bytes) > maxValues)
    throw new WritError('ATTESTATION_MALFORMED', {
      message: `expected at most ${maxEvidenceFileBytes} octets, ${maxFiles} files, and ${maxValues} members and items, found more`,
      detail: { expected: maxEvidenceFileBytes, found: bytes.length },
    });
  const options = { maxBytes: maxEvidenceFileBytes, maxDepth: 4 };
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED', ...options });
  const file = expectObject(value, '', ['mediaType', 'runId', 'commit', 'run', 'content', 'ledger']);
  expectText(file.mediaType, '/mediaType', /^application\/vnd\.writ\.evidence\.v1\+json$/);
  const commit = expectObject(file.commit, '/commit', ['id', 'object']);
  const run = readFiles(file.run, '/run');
  const content = file.content === null ? noFiles : readFiles(file.content, '/content');
  const ledger = file.ledger === null ? noFiles : readFiles(file.ledger, '/ledger');
  return {
    runId: expectText(file.runId, '/runId', /^[!-~]{1,128}$/),
    source: {
      commit: {
        id: expectText(commit.id, '/commit/id', gitIdForm),
        raw: expectBase64(commit.object, '/commit/object'),
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
const noFiles: ReadonlyMap<string, Decode> = new Map();

function readFiles(value: unknown, at: string): ReadonlyMap<string, Decode> {
  const files = new Map<string, Decode>();
  for (const [n, item] of expectArray(value, at, maxFiles).entries()) {
    const file = expectObject(item, `${at}/${n}`, ['path', 'data']);
    const path = expectText(file.path, `${at}/${n}/path`, /^[^\p{Cc}]{1,4096}$/u);
    const data = expectText(file.data, `${at}/${n}/data`);
    if (!isBase64(data)) throw malformedAt(`${at}/${n}`, 'base64');
    if (files.has(path)) throw malformedAt(`${at}/${n}`, 'each path once');
    files.set(path, () => Buffer.from(data, 'base64'));
  }
  return files;
}

/** Characters of base64 that are decoded at once; full groups of four. */
const piece = 1024 * 1024;

/** True for strict base64. It is decoded in pieces, because a copy of all of it would be held beside the document. */
function isBase64(text: string): boolean {
  for (let at = 0; at < text.length; at += piece) {
    const part = text.slice(at, at + piece);
    if (parseBase64(part) === undefined) return false;
    // Between pieces there is no padding, and a long text is of the standard alphabet.
    if (text.length > piece && (/[-_]/.test(part) || (part.endsWith('=') && at + piece < text.length)))
      return false;
  }
  return true;
}

const separators = new Set(Buffer.from(',:[{'));

/**
 * Counts what separates or opens JSON values, before any of it is parsed: no document has more values. A hostile one
 * costs no more than its octets.
 */
export function countSeparators(bytes: Uint8Array): number {
  let count = 0;
  for (const octet of bytes) if (separators.has(octet)) count += 1;
  return count;
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
