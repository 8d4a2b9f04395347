import { join } from 'node:path';
import type { Repository } from '../../workspace/git/repository.ts';
import { readMirror } from './git-mirror.ts';
import { ledgerPath } from './ledger-path.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { checkpointIfReadable, listRunRecords, readProvenRuns } from './proven-runs.ts';
import { readFrom } from './read-from.ts';
import type { LedgerFileReader } from './tile-reader.ts';

/** The copy of a log in git. */
export async function openMirrorHere(
  repository: Repository,
  origin: string,
): Promise<LogVersion | undefined> {
  return openVersion(await readMirror(repository, origin), origin);
}

/** A log as it goes on here: the ledger, else its copy in git. */
export async function openLogHere(repository: Repository, origin: string): Promise<LogVersion | undefined> {
  return (await openLedgerHere(repository, origin)) ?? openMirrorHere(repository, origin);
}

/** The ledger here, if it is that log. */
export function openLedgerHere(repository: Repository, origin: string): Promise<LogVersion | undefined> {
  return openVersion(readFrom(join(repository.commonDir, ledgerPath)), origin);
}

async function openVersion(
  read: LedgerFileReader | undefined,
  origin: string,
): Promise<LogVersion | undefined> {
  const bytes = await read?.('checkpoint');
  const head = bytes && checkpointIfReadable(() => Buffer.from(bytes).toString('utf8'));
  return read && head?.origin === origin ? { head, read } : undefined;
}

/** Refs of the runs here whose entry is in `own` only, under whatever `aiRefPrefix`. */
export async function unloggedRuns(
  repository: Repository,
  own: LogVersion,
  published: LogVersion,
): Promise<readonly string[]> {
  const unlogged: string[] = [];
  for (const { ref, checkpoint } of await readProvenRuns(repository, await listRunRecords(repository))) {
    if (checkpoint.origin !== own.head.origin) continue;
    if (!(await isPartOf(checkpoint, published)) && (await isPartOf(checkpoint, own))) unlogged.push(ref);
  }
  return unlogged;
}
