import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from '../../../core/contract/worker.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { workerFile } from '../record/worker-file.ts';
import type { ChangeSource, ResumeRequest } from '../state/run-request.ts';

/** Who makes the change; `undefined` where it is supplied. SLOT_UNKNOWN, and what the worker refuses to be made of. */
export async function openWorker({ slots }: WritEngine, source: ChangeSource): Promise<Worker | undefined> {
  if (source.kind !== 'worker') return undefined;
  return (await slots.worker.pick(source.worker)).open(source.from);
}

/**
 * Who goes on with a run; `undefined` where nobody was asked for, or what the run was started with is not in its
 * directory.
 */
export async function reopenWorker(
  { slots }: WritEngine,
  wanted: ResumeRequest['worker'],
  directory: string,
  startedWith: string | undefined,
): Promise<Worker | undefined> {
  if (!wanted) return undefined;
  if (wanted.from) return (await slots.worker.pick(wanted.name)).open(await wanted.from());
  const from = await readKept(directory);
  return from && (await slots.worker.pick(startedWith ?? wanted.name)).open(from);
}

async function readKept(directory: string): Promise<Uint8Array | undefined> {
  return readFile(join(directory, workerFile)).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
}
