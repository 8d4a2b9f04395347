import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ledgerPath } from '../attest/log/internal-ledger-source.ts';
import type { EvidenceSource } from '../attest/verify/evidence-source.ts';
import type { RunStore } from '../core/run/run-store.ts';
import { readObjects } from '../core/vcs/blobs.ts';
import type { Repository } from '../core/vcs/repository.ts';

/** A run's evidence as git keeps it. `undefined` where there is no such commit object. */
export async function gitEvidence(
  repository: Repository,
  store: RunStore,
  runId: string,
  commitId: string,
): Promise<EvidenceSource | undefined> {
  const [commit] = await readObjects(repository, [commitId]);
  if (commit?.type !== 'commit') return undefined;
  const run = await loadTree(store, store.refs.run(runId));
  const content = await loadTree(store, store.refs.content(runId));
  return {
    commit: { id: commit.id, raw: commit.bytes },
    listRun: async () => run.paths,
    readRun: async (path) => run.files.get(path),
    listContent: async () => content.paths,
    readContent: async (path) => content.files.get(path),
    readLedger: (path) => readLedgerFile(repository, path),
  };
}

/** A run's tree at once: one git process instead of one for every file. */
async function loadTree(
  { objects }: RunStore,
  ref: string,
): Promise<{ readonly paths: readonly string[]; readonly files: ReadonlyMap<string, Buffer> }> {
  const paths = (await objects.list(ref)).map(({ path }) => path);
  return { paths, files: paths.length === 0 ? new Map() : await objects.readMany(ref, paths) };
}

/** Tiles and checkpoints are small; more than this is no file of a ledger. */
const maxLedgerFileBytes = 16 * 1024 * 1024 + 1024;

async function readLedgerFile(repository: Repository, path: string): Promise<Uint8Array | undefined> {
  const file = join(repository.commonDir, ledgerPath, path);
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (fault: NodeJS.ErrnoException) => {
      if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return undefined;
      throw fault;
    },
  );
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    return size > maxLedgerFileBytes ? undefined : await handle.readFile();
  } finally {
    await handle.close();
  }
}
