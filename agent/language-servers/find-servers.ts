/* Finds installed language servers. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import type { AgentRun } from '../agent-run.ts';
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
