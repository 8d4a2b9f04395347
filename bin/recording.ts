import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../core/base/clock.ts';
import type { Worker } from '../core/contract/worker.ts';
import { workerFile } from '../engine/run/record/worker-file.ts';
import { createRecordedWorker, parseRecording } from '../plugins/recorded-worker/worker.ts';

/** A worker that answers from a recording (`docs/recording.md`). RECORDING_MALFORMED. */
export function openRecording(bytes: Uint8Array): Worker {
  return createRecordedWorker(parseRecording(bytes), systemClock.sleep);
}

/** The recording that a run was started with; `undefined` where it was started with none, or on another machine. */
export async function keptRecording(directory: string): Promise<Worker | undefined> {
  const bytes = await readFile(join(directory, workerFile)).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
  return bytes && openRecording(bytes);
}
