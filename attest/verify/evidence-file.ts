import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { parseBase64 } from '../base64.ts';
import { expectArray, expectBase64, expectObject, expectText } from '../expect-json.ts';
import type { EvidenceSource } from './evidence-source.ts';
import { logSnapshot } from './log-snapshot.ts';

/** Media type of a run's evidence in one file (`docs/schemas/evidence.v1.json`). */
export const evidenceMediaType = 'application/vnd.writ.evidence.v1+json';

/** Most octets of such a file. */
export const maxEvidenceFileBytes = 256 * 1024 * 1024;

const maxFiles = 100_000;

/** A run's evidence out of one file. Nothing in it is trusted. */
export interface EvidenceFile {
  /** The run that the file says to be about. */
  readonly runId: string;
  readonly source: EvidenceSource;
}

/**
 * Everything that verification looks at, in one self-contained document: commit object, run tree, content as far as retention has left it, and what tells
 * the log from others ({@link logSnapshot}, unless it was taken already). Same source, same bytes. More than 256 MiB is INPUT_TOO_LARGE.
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
 * Reads such a document: strict JSON up to 256 MiB, four levels and 100,000 files, no other member, each path once. ATTESTATION_MALFORMED.
 */
export function parseEvidenceFile(bytes: Uint8Array): EvidenceFile {
  const { value } = parseStrictJson(bytes, {
    code: 'ATTESTATION_MALFORMED',
    maxBytes: maxEvidenceFileBytes,
    maxDepth: 4,
  });
  const file = expectObject(value, '', ['mediaType', 'runId', 'commit', 'run', 'content', 'ledger']);
  expectText(file.mediaType, '/mediaType', /^application\/vnd\.writ\.evidence\.v1\+json$/);
  const commit = expectObject(file.commit, '/commit', ['id', 'object']);
  const run = readFiles(file.run, '/run');
  const content = file.content === null ? new Map<string, Buffer>() : readFiles(file.content, '/content');
  const ledger = file.ledger === null ? new Map<string, Buffer>() : readFiles(file.ledger, '/ledger');
  return {
    runId: expectText(file.runId, '/runId', /^[!-~]{1,128}$/),
    source: {
      commit: {
        id: expectText(commit.id, '/commit/id', /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
        raw: expectBase64(commit.object, '/commit/object'),
      },
      listRun: async () => [...run.keys()],
      readRun: async (path) => run.get(path),
      listContent: async () => [...content.keys()],
      readContent: async (path) => content.get(path),
      readSnapshot: async (path) => ledger.get(path),
    },
  };
}

function readFiles(value: unknown, at: string): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const [n, item] of expectArray(value, at, maxFiles).entries()) {
    const file = expectObject(item, `${at}/${n}`, ['path', 'data']);
    const path = expectText(file.path, `${at}/${n}/path`, /^[^\p{Cc}]{1,4096}$/u);
    // An empty file is base64 of nothing.
    const data = parseBase64(expectText(file.data, `${at}/${n}/data`));
    if (data === undefined || files.has(path))
      throw new WritError('ATTESTATION_MALFORMED', {
        message: `expected ${data ? 'each path once' : 'base64'} at \`${at}/${n}\``,
        detail: { path: `${at}/${n}` },
      });
    files.set(path, data);
  }
  return files;
}
