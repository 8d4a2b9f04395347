/* Starts a language server in the sandbox. */
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/base/errors.ts';
import type { SandboxBind, SandboxPipes } from '../../core/interfaces/sandbox.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { isVersionControl } from '../../workspace/process/version-control.ts';
import type { AgentRun } from '../agent-run.ts';
import type { ToolPlace } from '../tool-calls/attempt-tools.ts';
import { ServerFault } from './connection.ts';
import type { FoundServer } from './find-servers.ts';
import type { GivenDirectory } from './language-server.ts';

/** A process of a server: pipes, how it ended, and its end. */
export interface StartedServer extends AsyncDisposable {
  readonly pipes: SandboxPipes;
  readonly ended: Promise<string>;
}

const longestMs = 24 * 3600 * 1000;
const maxStderrBytes = 4096;
/** Each is a mount. */
const maxHidden = 256;

/**
 * Starts a server over the read-only workspace, with the given directories mounted over it and hidden paths empty.
 * Throws ServerFault if that is not possible.
 */
export async function startServer(
  run: Pick<AgentRun, 'environment' | 'services'>,
  place: ToolPlace,
  { server, argv, from }: FoundServer,
  provided: readonly GivenDirectory[],
  hidden: readonly string[],
): Promise<StartedServer> {
  const { sandbox, config } = run.environment;
  const own = join(dirname(place.workspace), 'code');
  const nothing = {
    file: join(own, 'nothing'),
    directory: join(own, 'no-files'),
    reports: join(own, 'said'),
  };
  for (const directory of [nothing.directory, nothing.reports])
    await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(nothing.file, '');
  const inside = sandbox.pathsInside(place).workspace;
  const bind = (source: string, path: string): SandboxBind => ({
    source,
    target: `${inside}/${path}`,
    writable: false,
  });
  const binds: SandboxBind[] = [{ source: place.workspace, target: inside, writable: false }];
  const laid = new Set<string>();
  for (const { directory, source } of provided) {
    if (!(await makeRoom(place.workspace, directory))) continue;
    laid.add(directory);
    binds.push(bind(source, directory));
  }
  if (from !== undefined && !laid.has(from.directory))
    throw new ServerFault(`cannot be started: files of the change are where \`${from.directory}\` is to be`);
  // What it would load of the change's own, it does not see.
  for (const directory of server.loads ?? []) {
    if (laid.has(directory)) continue;
    const kind = await lstat(join(place.workspace, directory)).catch(() => undefined);
    if (kind !== undefined && !kind.isDirectory())
      throw new ServerFault(`cannot be started: \`${directory}\` is no directory`);
    await mkdir(join(place.workspace, directory), { recursive: true });
    binds.push(bind(nothing.directory, directory));
  }
  const covered = hidden.filter((path) => ![...laid].some((one) => path.startsWith(`${one}/`)));
  if (covered.length > maxHidden)
    throw new ServerFault(`cannot be started: the rules hide more than ${maxHidden} places from it`);
  for (const path of covered)
    binds.push(path.endsWith('/') ? bind(nothing.directory, path.slice(0, -1)) : bind(nothing.file, path));

  const over = new AbortController();
  const { promise: talked, resolve: talk } = Promise.withResolvers<SandboxPipes>();
  const running = sandbox.run({
    argv,
    workspace: place.workspace,
    reports: nothing.reports,
    binds,
    env: { ...server.env },
    network: 'none',
    withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
    timeoutMs: longestMs,
    maxOutputBytes: maxStderrBytes,
    maxMemoryBytes: maxMemoryBytes(config),
    talk,
    signal: AbortSignal.any([run.services.signal, over.signal]),
  });
  const ended = running.then(
    ({ exitCode, exceeded, signal }) =>
      exceeded
        ? `held more ${exceeded.what} than ${exceeded.limit}`
        : exitCode === undefined
          ? `was ended by ${signal}`
          : `ended with ${exitCode}`,
    (fault: unknown) => `cannot be started: ${messageOf(fault)}`,
  );
  const pipes = await Promise.race([talked, ended]);
  if (typeof pipes === 'string') throw new ServerFault(pipes);
  return {
    pipes,
    ended,
    async [Symbol.asyncDispose]() {
      over.abort();
      pipes.output.destroy();
      await ended;
    },
  };
}

/** Whether a directory can be mounted there: over an empty directory, and through no symlink. */
async function makeRoom(workspace: string, directory: string): Promise<boolean> {
  const parts = directory.split('/');
  for (const index of parts.keys()) {
    const part = join(workspace, ...parts.slice(0, index + 1));
    const status = await lstat(part).catch(() => undefined);
    if (status === undefined) break;
    if (!status.isDirectory()) return false;
  }
  await mkdir(join(workspace, directory), { recursive: true });
  return (await readdir(join(workspace, directory))).length === 0;
}
