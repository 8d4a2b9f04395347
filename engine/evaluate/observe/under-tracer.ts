/* Starts a command under the tracer and reads its trace. */
import { mkdir, mkdtemp, open, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setInterval } from 'node:timers';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';
import { createFootprintReader, type Footprint } from '../../../readers/trace/read-trace.ts';
import { removeTree } from '../../../workspace/git/torn-paths.ts';
import type { OpenRun } from '../../state/open-run.ts';

/** Ten times what the largest suite of docs/decisions/0022-footprints.md wrote, and more. */
const maxTraceBytes = 256 * 1024 * 1024;
const watchEveryMs = 100;

/** As of a sandbox request, for a run that gives no verdict: variables and binds that help the tracer. */
export type TracedCommand = Pick<SandboxRequest, 'binds' | 'env'> & { readonly traceTo: string };

/** What a command did with files, or why that is not known. */
export type ReadTrace = { readonly footprint: Footprint } | { readonly reason: string };

/**
 * Lets `run` start a command under the tracer in `workspace`, its place inside the sandbox, to which `alias` leads,
 * too. Imports of Python are looked up one by one. The trace is bounded: the signal ends a run that writes more.
 */
export function underTracer<T>(
  services: TracePlace,
  workspace: string,
  alias: string,
  run: (traced: TracedCommand, signal: AbortSignal) => Promise<T>,
): Promise<{ readonly ran: T; readonly read: ReadTrace }> {
  return tracedIn(services, workspace, alias, async ({ traceTo, signal }) => {
    const hook = await placeImportHook(dirname(traceTo), [workspace, alias]);
    return run({ traceTo, ...hook }, signal);
  });
}

type TracePlace = Pick<OpenRun['services'], 'privateRoot' | 'signal'>;
/** The tracer's part of a sandbox request. */
export type TracedRun = Required<Pick<SandboxRequest, 'traceTo' | 'signal'>>;

/** Like `underTracer`, but the command is not changed in any way. The trace is deleted afterwards. */
export async function tracedIn<T>(
  { privateRoot, signal }: TracePlace,
  workspace: string,
  alias: string | undefined,
  run: (traced: TracedRun) => Promise<T>,
): Promise<{ readonly ran: T; readonly read: ReadTrace }> {
  const place = await mkdtemp(join(privateRoot, 'trace-'));
  const traceTo = join(place, 'calls');
  const tooLarge = new AbortController();
  const watch = setInterval(async () => {
    if ((await sizeOf(traceTo)) > maxTraceBytes) tooLarge.abort();
  }, watchEveryMs);
  try {
    const ran = await run({ traceTo, signal: AbortSignal.any([signal, tooLarge.signal]) });
    return { ran, read: await readTrace(traceTo, workspace, alias === undefined ? {} : { alias }) };
  } finally {
    clearInterval(watch);
    await removeTree(place).catch(() => undefined);
  }
}

/** Reads a trace line by line, as far as its bounds go. */
export async function readTrace(
  path: string,
  cwd: string,
  options: { readonly maxBytes?: number; readonly maxPaths?: number; readonly alias?: string } = {},
): Promise<ReadTrace> {
  const { maxBytes = maxTraceBytes, ...more } = options;
  const size = await sizeOf(path);
  if (size > maxBytes) return { reason: `its trace is larger than ${maxBytes} bytes` };
  if (size === 0) return { reason: 'there is no trace' };
  const reader = createFootprintReader(cwd, more);
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

/** Where the hook is in the sandbox. */
const inside = '/import-hook';
/** Minor versions of Python 3 that have a directory for packages of the user. */
const versions = Array.from({ length: 20 }, (_, minor) => `user/lib/python3.${minor}/site-packages`);

/**
 * Makes Python imports visible in a trace. Python lists a directory once and then looks up no names. So the hook
 * looks up the files that an import could use below `places`, in Python's order, up to the first that exists. The
 * trace shows the outcome, and the hook records no other data.
 *
 * It is installed as `sitecustomize` on PYTHONPATH, for virtual environments, and as `usercustomize`, for commands
 * that set PYTHONPATH. It removes itself from the module path and then loads the project's module of the same name.
 * Programs that refuse both (`python -I`, `-E`, other variables) run without it; their directory listings are still
 * traced.
 */
export async function placeImportHook(
  place: string,
  places: readonly string[],
): Promise<Pick<SandboxRequest, 'binds' | 'env'>> {
  const source = join(place, 'import-hook');
  const text = hookIn(places);
  for (const [directory, name] of [
    ['', 'sitecustomize'],
    ...versions.map((one) => [one, 'usercustomize']),
  ] as const) {
    await mkdir(join(source, directory), { recursive: true });
    await writeFile(join(source, directory, `${name}.py`), text);
  }
  return {
    binds: [{ source, target: inside, writable: false }],
    env: { PYTHONPATH: inside, PYTHONUSERBASE: `${inside}/user` },
  };
}

const hookIn = (places: readonly string[]): string => `\
import os, sys
try:
    from importlib.machinery import FileFinder

    if not hasattr(FileFinder, 'find_unobserved'):
        FileFinder.find_unobserved = FileFinder.find_spec

        def find_spec(self, fullname, target=None):
            if (self.path + '/').startswith((${places.map((path) => `${JSON.stringify(`${path}/`)}, `).join('')})):
                name = self.path + '/' + fullname.rpartition('.')[2]
                endings = [ending for ending, _ in self._loaders]
                any(os.access(start + ending, os.F_OK) for start in (name + '/__init__', name) for ending in endings)
            return self.find_unobserved(fullname, target)

        FileFinder.find_spec = find_spec
except ImportError:
    pass
sys.path.remove(os.path.dirname(__file__))
del sys.modules[__name__]
__import__(__name__)
`;
