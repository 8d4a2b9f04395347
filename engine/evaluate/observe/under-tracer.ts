import { mkdtemp, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { createFootprintReader, type Footprint } from '../../../readers/trace/read-trace.ts';
import { removeTree } from '../../../workspace/git/torn-paths.ts';
import type { OpenRun } from '../../state/open-run.ts';
import { placeImportHook } from './python-imports.ts';

/** Ten times what the largest suite of docs/decisions/0022-footprints.md wrote, and more. */
const maxTraceBytes = 256 * 1024 * 1024;
const watchEveryMs = 100;

/** As of a sandbox request, for a run that gives no verdict: variables and binds that help the tracer. */
export type TracedCommand = Pick<SandboxRequest, 'binds' | 'env'> & { readonly traceTo: string };

/** What a command did with files, or why that is not known. */
export type ReadTrace = { readonly footprint: Footprint } | { readonly reason: string };

/**
 * Lets `run` start a command under the tracer in `workspace`, its place inside the sandbox. The trace is bounded: the
 * signal ends a run that writes more. It is deleted afterwards.
 */
export async function underTracer<T>(
  { privateRoot, signal }: Pick<OpenRun['services'], 'privateRoot' | 'signal'>,
  workspace: string,
  run: (traced: TracedCommand, signal: AbortSignal) => Promise<T>,
): Promise<{ readonly ran: T; readonly read: ReadTrace }> {
  const place = await mkdtemp(join(privateRoot, 'trace-'));
  const traceTo = join(place, 'calls');
  const tooLarge = new AbortController();
  const watch = setInterval(async () => {
    if ((await sizeOf(traceTo)) > maxTraceBytes) tooLarge.abort();
  }, watchEveryMs);
  try {
    const traced = { traceTo, ...(await placeImportHook(place, workspace)) };
    const ran = await run(traced, AbortSignal.any([signal, tooLarge.signal]));
    return { ran, read: await readTrace(traceTo, workspace) };
  } finally {
    clearInterval(watch);
    await removeTree(place).catch(() => undefined);
  }
}

/** Reads a trace line by line, as far as its bounds go. */
export async function readTrace(
  path: string,
  cwd: string,
  limits: { readonly maxBytes?: number; readonly maxPaths?: number } = {},
): Promise<ReadTrace> {
  const { maxBytes = maxTraceBytes, maxPaths } = limits;
  const size = await sizeOf(path);
  if (size > maxBytes) return { reason: `its trace is larger than ${maxBytes} bytes` };
  if (size === 0) return { reason: 'there is no trace' };
  const reader = createFootprintReader(cwd, maxPaths);
  const file = await open(path);
  try {
    for await (const line of file.readLines({ encoding: 'latin1' }))
      if (!reader.read(line)) return { reason: 'it uses more paths than a footprint holds' };
  } finally {
    await file.close();
  }
  return { footprint: reader.footprint() };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
