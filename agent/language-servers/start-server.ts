/* Finds the language servers of the machine and starts them. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/base/errors.ts';
import type { SandboxBind, SandboxPipes, SandboxRequest } from '../../core/interfaces/sandbox.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { isVersionControl } from '../../workspace/process/version-control.ts';
import type { AgentRun } from '../agent-run.ts';
import type { ToolPlace } from '../tool-calls/tool-entry.ts';
import { ServerFault } from './connection.ts';
import type { GivenDirectory, LanguageServer, ServerCommand } from './language-server.ts';
import { plain } from './texts.ts';

/** A server that is there. */
export interface FoundServer {
  readonly name: string;
  readonly server: LanguageServer;
  /** Inside, by the absolute path of its program. */
  readonly argv: readonly string[];
  /** Its own version output. */
  readonly version: string;
  /** The directory that was given to the workspace, where it comes from one. */
  readonly from?: GivenDirectory;
}

const withinMs = 60_000;
const maxOutputBytes = 64 * 1024;

/**
 * Searches an empty sandbox for the programs of these servers: first on its PATH, then in `.bin` of the directories
 * that a workspace is given. A program counts as found if it prints its version.
 */
export async function findServers(
  run: Pick<AgentRun, 'environment' | 'services'>,
  place: string,
  wanted: readonly (readonly [name: string, server: LanguageServer])[],
  provided: readonly GivenDirectory[],
): Promise<readonly FoundServer[]> {
  const { sandbox, config } = run.environment;
  const [workspace, reports] = [join(place, 'empty'), join(place, 'reports')];
  for (const directory of [workspace, reports]) await mkdir(directory, { recursive: true });
  const inside = sandbox.pathsInside({ workspace, reports }).workspace;
  const bins = provided.map(({ directory }) => `${inside}/${directory}/.bin`);
  const candidates = wanted.flatMap(([name, server]) =>
    server.commands.map((command) => ({ name, server, command })),
  );
  const result = await sandbox.run({
    argv: [
      'sh',
      '-c',
      askScript,
      'sh',
      bins.join(':'),
      ...candidates.flatMap(({ command }) => asked(command)),
    ],
    workspace,
    reports,
    binds: provided.map(({ directory, source }) => ({
      source,
      target: `${inside}/${directory}`,
      writable: false,
    })),
    env: {},
    network: 'none',
    timeoutMs: withinMs,
    maxOutputBytes,
    maxMemoryBytes: maxMemoryBytes(config),
    signal: run.services.signal,
  });
  run.services.signal.throwIfAborted();
  const lines = result.stdout.bytes.toString('utf8').split('\n');
  const found = new Map<string, FoundServer>();
  for (const line of lines) {
    const [index = '', program = '', said = ''] = line.split('\t');
    const candidate = /^[0-9]+$/.test(index) ? candidates[Number(index)] : undefined;
    if (candidate === undefined || found.has(candidate.name)) continue;
    const { name, server, command } = candidate;
    const version = plain(said, 100);
    const isOwn = program.startsWith(`${inside}/`);
    const from = provided.find(({ directory }) => program.startsWith(`${inside}/${directory}/.bin/`));
    if (!program.startsWith('/') || (isOwn && from === undefined)) continue;
    if (command.accepts?.test(version) === false) continue;
    const argv = [program, ...command.command.slice(1)];
    found.set(name, { name, server, argv, version, ...(from === undefined ? {} : { from }) });
  }
  return [...found.values()];
}

/** Arguments: for each candidate its program and the command that prints its version. */
const askScript = `PATH="$PATH\${1:+:$1}"; shift; n=0
while [ $# -ge 2 ]; do
  if p=$(command -v "$1") && v=$($2 2>/dev/null </dev/null); then
    printf '%s\\t%s\\t%s\\n' "$n" "$p" "$(printf '%s\\n' "$v" | head -n 1)"
  fi
  n=$((n + 1)); shift 2
done`;

function asked({ command: [program = ''], version }: ServerCommand): readonly string[] {
  return [program, version?.join(' ') ?? 'true'];
}

/** A server as the provenance names it, by the digest of its program, or of the directory that it comes from. */
export async function digestServer(
  { name, argv: [program = ''], version, from }: FoundServer,
  told: string,
): Promise<DigestedThing | undefined> {
  const uri = `urn:writ:language-server:${encodeURIComponent(told === '' ? version : told)}`;
  const thing = { name: `language-server/${name}`, uri };
  if (from !== undefined) return { ...thing, digest: { sha256: from.sha256 } };
  try {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(await realpath(program))) hash.update(chunk);
    return { ...thing, digest: { sha256: hash.digest('hex') } };
  } catch {
    return undefined;
  }
}

/** A process of a server: pipes, how it ended, and its end. */
export interface StartedServer extends AsyncDisposable {
  readonly pipes: SandboxPipes;
  readonly ended: Promise<string>;
  /** The end of what it printed on stderr, once it has ended. */
  said(): string;
}

/** The parts of a run that a server is started with. */
export interface ServerRun {
  readonly environment: Pick<AgentRun['environment'], 'sandbox'> & {
    readonly config: Pick<AgentRun['environment']['config'], 'checks'>;
  };
  readonly services: Pick<AgentRun['services'], 'signal'>;
}

const longestMs = 24 * 3600 * 1000;
const maxStderrBytes = 4096;
/** Each is a mount. */
const maxHidden = 256;

/**
 * Starts a server over the read-only workspace, with the given directories mounted over it and hidden paths empty.
 * `reach` is what else it sees; default: nothing. Throws ServerFault if that is not possible.
 */
export async function startServer(
  run: ServerRun,
  place: ToolPlace,
  {
    server,
    argv,
    from,
  }: Pick<FoundServer, 'argv' | 'from'> & {
    readonly server: Pick<LanguageServer, 'env' | 'loads'>;
  },
  provided: readonly GivenDirectory[],
  hidden: readonly string[],
  reach: Pick<SandboxRequest, 'network' | 'binds'> = { network: 'none', binds: [] },
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
  const binds: SandboxBind[] = [{ source: place.workspace, target: inside, writable: false }, ...reach.binds];
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
    network: reach.network,
    withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
    timeoutMs: longestMs,
    maxOutputBytes: maxStderrBytes,
    maxMemoryBytes: maxMemoryBytes(config),
    talk,
    signal: AbortSignal.any([run.services.signal, over.signal]),
  });
  let said = '';
  const ended = running.then(
    ({ exitCode, exceeded, signal, stderr }) => {
      said = stderr.bytes.toString('utf8').trim();
      if (exceeded) return `held more ${exceeded.what} than ${exceeded.limit}`;
      return exitCode === undefined ? `was ended by ${signal}` : `ended with ${exitCode}`;
    },
    (fault: unknown) => `cannot be started: ${messageOf(fault)}`,
  );
  const pipes = await Promise.race([talked, ended]);
  if (typeof pipes === 'string') throw new ServerFault(pipes);
  return {
    pipes,
    ended,
    said: () => said,
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
