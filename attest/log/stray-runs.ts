import { join } from 'node:path';
import { writeDurably } from '../../core/base/files.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { signedBy } from './continue-mirror.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { listRunRecords, readProvenRuns } from './proven-runs.ts';
import { readFrom } from './read-from.ts';

/** A run whose log proof shows entries of a log that the ledger of that log does not have. */
export interface StrayRun {
  readonly ref: string;
  readonly checkpoint: SignedCheckpoint;
}

/** In a ledger's directory: the size and root of its tree, then the records that show nothing outside of that tree. */
const comparedFile = 'compared-runs';

/**
 * The runs in git whose proofs the same key signed for the same log, and that the ledger does not contain: it is older
 * than the log, or the log was forked. A record is read once: those that were compared are kept beside the ledger,
 * which only grows.
 */
export async function findStrayRuns(
  repository: Repository,
  publicKeyPem: string,
  directory: string,
  head: SignedCheckpoint,
): Promise<readonly StrayRun[]> {
  const own: LogVersion = { head, read: readFrom(directory) };
  const records = await listRunRecords(repository);
  const compared = await readCompared(own);
  const open = records.filter(({ commit }) => !compared.has(commit));
  if (open.length === 0) return [];
  await using readers = keepObjectReaders();
  const strays: StrayRun[] = [];
  const strayRecords = new Set<string>();
  for (const run of await readProvenRuns(readers.keep({ ...repository }), open)) {
    if (run.checkpoint.origin !== head.origin || (await isPartOf(run.checkpoint, own))) continue;
    const checkpoint = signedBy(publicKeyPem, Buffer.from(run.checkpoint.source));
    if (checkpoint === undefined) continue;
    strays.push({ ref: run.ref, checkpoint });
    strayRecords.add(run.commit);
  }
  const settled = records.map(({ commit }) => commit).filter((commit) => !strayRecords.has(commit));
  if (settled.some((commit) => !compared.has(commit))) await keepCompared(directory, head, settled);
  return strays;
}

/** Nothing counts that was compared with a larger ledger than the one here, which was put back since then. */
async function readCompared(own: LogVersion): Promise<ReadonlySet<string>> {
  const text = Buffer.from((await own.read(comparedFile)) ?? []).toString('latin1');
  const [first = '', ...records] = text.split('\n');
  const [, size, root = ''] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(first) ?? [];
  const isOfOwn =
    size !== undefined && (await isPartOf({ size: Number(size), root: Buffer.from(root, 'hex') }, own));
  return new Set(isOfOwn ? records : []);
}

async function keepCompared(
  directory: string,
  { size, root }: SignedCheckpoint,
  records: readonly string[],
): Promise<void> {
  const lines = [`${size} ${root.toString('hex')}`, ...records];
  try {
    await writeDurably(join(directory, comparedFile), `${lines.join('\n')}\n`, 0o644);
  } catch (fault) {
    // Comparing again does no harm.
    if (!['EROFS', 'EACCES', 'EPERM', 'ENOSPC'].includes((fault as NodeJS.ErrnoException).code ?? ''))
      throw fault;
  }
}
