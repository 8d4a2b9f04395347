/* Starts an MCP server: a program in the sandbox, or an address that the egress rules open. */
import { mkdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { SandboxBind } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork, NetworkUse } from '../../core/interfaces/scanner.ts';
import type { EgressPolicy } from '../../workspace/egress/openings.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import { isInside } from '../../workspace/process/find-program.ts';
import { hiddenPaths } from '../language-servers/code-queries.ts';
import { ServerFault } from '../language-servers/connection.ts';
import type { GivenDirectory } from '../language-servers/language-server.ts';
import { type ServerRun, type StartedServer, startServer } from '../language-servers/start-server.ts';
import type { ToolPlace } from '../tool-calls/tool-entry.ts';

/** One `[mcp.NAME]`: a program (`command`), or an address (`url`). */
export interface McpServer {
  readonly name: string;
  /** Whose configuration names it. */
  readonly from: 'policy' | 'user';
  readonly command?: readonly string[];
  readonly url?: string;
  /** Directory of this machine that the program sees at `/mcp`; of a user's configuration only. */
  readonly directory?: string;
  /** Hosts that the program reaches; if empty, it has no network. */
  readonly hosts: readonly string[];
  /** Variables of the program, each with the name of its secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Name of the secret that is sent to the address as a bearer token. */
  readonly token?: string;
  /** The program reads the workspace. It then has neither hosts nor secrets. */
  readonly reads: boolean;
  /** The only tools that are offered; absent: all. */
  readonly tools?: readonly string[];
  /** For one call. */
  readonly timeoutSeconds: number;
}

/** Where the programs of an attempt, or of a talk, are started. */
export interface McpPlace {
  readonly run: ServerRun;
  /** The exported tree. */
  readonly place: ToolPlace;
  /** Private directory of the run, for what belongs to no workspace. */
  readonly privateRoot: string;
  /** The user's working tree, of which no program of an MCP server is a part. */
  readonly repositoryRoot: string;
  /** Directories that checks would be given. */
  readonly provided: () => Promise<readonly GivenDirectory[]>;
  /** The network that is connected to; absent: the real one. */
  readonly outside?: Outside;
}

const inside = '/mcp';

/** Why there is no answer of a server. */
export type McpFaultReason =
  | 'refused'
  | 'not-started'
  | 'ended'
  | 'late'
  | 'flood'
  | 'garbage'
  | 'unreachable'
  | 'protocol';

const nextSteps: Readonly<Record<McpFaultReason, string>> = {
  refused: 'correct its table in the configuration',
  'not-started': 'correct `command`, or install the program where the sandbox shows it',
  ended: 'run the command by hand and read what it prints',
  late: 'raise `timeout_seconds`, or ask for less at once',
  flood: 'report it to the author of the server: an answer has at most 4 MiB',
  garbage: 'report it to the author of the server: stdout holds JSON-RPC messages only, a log goes to stderr',
  unreachable: 'check `url`, and that its host is public and answers',
  protocol: 'check that the server speaks MCP 2025-11-25 or older, and that `token` names the right secret',
};

const maxFound = 400;

/** Words of a program that misses a file. */
const missesFile =
  /cannot find (?:module|package)|no such file|can't open file|\bENOENT\b|\bModuleNotFoundError\b/i;

/** What the sandbox keeps from a program that misses a file: by hand, the same command works. */
function nextStep(
  { command, directory, reads = false }: Partial<McpServer>,
  reason: McpFaultReason,
  found: string,
): string {
  if (command === undefined || reason !== 'ended' || !missesFile.test(found)) return nextSteps[reason];
  const shown = reads
    ? 'the committed files of the repository'
    : directory === undefined
      ? 'no file of yours'
      : `\`${inside}\` alone`;
  return `the sandbox shows the program ${shown}: \`writ mcp add\` with the path of the program sets \`directory\`, or \`workspace = "read"\` for a program of the repository`;
}

/** The fault of one server; it ends that server and nothing else. */
export function mcpFault(
  server: Pick<McpServer, 'name'> & Partial<McpServer>,
  reason: McpFaultReason,
  found: string,
  cause?: unknown,
): WritError {
  return new WritError('MCP_SERVER_FAILED', {
    message: `MCP server \`${server.name}\` ${printable(found.slice(0, maxFound))}`,
    detail: { server: server.name, reason },
    hints: [nextStep(server, reason, found)],
    cause,
  });
}

/** The host of a server, or the digest of its command, as people and records name it. */
export function endpointOf({ url, command = [] }: Pick<McpServer, 'url' | 'command'>): string {
  return url === undefined ? `sha256:${sha256Hex(JSON.stringify(command))}` : new URL(url).host;
}

/** What a server reaches, in words. */
export function reachOf({ url, hosts, reads }: Pick<McpServer, 'url' | 'hosts' | 'reads'>): string {
  if (reads) return 'reads the workspace, no network';
  const all = url === undefined ? hosts : [new URL(url).host];
  return all.length === 0 ? 'no network, no files' : `reaches ${all.join(', ')}`;
}

/** Hosts that a server reaches, as `networkHosts` names them. */
export function hostsOf({ url, hosts }: Pick<McpServer, 'url' | 'hosts'>): readonly string[] {
  return url === undefined ? hosts : [new URL(url).host];
}

/** The network of one server: exactly its hosts. */
export function policyOf(server: McpServer): EgressPolicy {
  return { all: false, openings: [[{ hosts: hostsOf(server), reason: `MCP server ${server.name}` }]] };
}

/** A started program, with its use of the network. */
export interface StartedProgram extends StartedServer {
  network(): CheckNetwork | undefined;
}

const limits = { idleMs: 600_000, connectionMs: 3_600_000 };

/**
 * Starts the program of a server. It sees the workspace read-only as far as `shows` goes, or an empty directory;
 * beside that the directories that checks are given, and `/mcp`. Throws MCP_SERVER_FAILED.
 */
export async function startProgram(
  { run, place, privateRoot, repositoryRoot, provided, outside }: McpPlace,
  server: McpServer,
  env: Readonly<Record<string, string>>,
  shows: (path: string) => boolean,
): Promise<StartedProgram> {
  const { name, command = [], directory, reads } = server;
  const own = join(privateRoot, `mcp-${name}`);
  const empty = join(own, 'workspace');
  await mkdir(empty, { recursive: true, mode: 0o700 });
  const binds = directory === undefined ? [] : [await bindOf(server, directory, repositoryRoot)];
  const { openEgress } = await import('../../workspace/egress/open-egress.ts');
  const egress =
    server.hosts.length === 0
      ? undefined
      : await openEgress(privateRoot, {
          policy: policyOf(server),
          limits,
          ...(outside === undefined ? {} : { outside }),
        });
  let uses: readonly NetworkUse[] | undefined;
  const closeNetwork = async (): Promise<void> => {
    uses ??= await egress?.close();
  };
  try {
    const started = await startServer(
      run,
      reads ? place : { ...place, workspace: empty },
      { argv: command, server: { env, loads: ['node_modules'] } },
      await provided(),
      reads ? await hiddenPaths(place.workspace, shows) : [],
      { network: egress?.network ?? 'none', binds },
    );
    return {
      ...started,
      network() {
        const seen = uses ?? egress?.seen() ?? [];
        return seen.length === 0
          ? undefined
          : { opened: [{ hosts: server.hosts, reason: `MCP server ${name}` }], uses: seen };
      },
      async [Symbol.asyncDispose]() {
        await started[Symbol.asyncDispose]();
        await closeNetwork();
      },
    };
  } catch (fault) {
    await closeNetwork();
    if (fault instanceof ServerFault) throw mcpFault(server, 'not-started', fault.message, fault);
    throw fault;
  }
}

/** A directory of the user's for `/mcp`. One in the repository is refused: a change could write its program. */
async function bindOf(server: McpServer, directory: string, repositoryRoot: string): Promise<SandboxBind> {
  const path = directory.startsWith('~/') ? join(homedir(), directory.slice(2)) : directory;
  let source: string;
  try {
    source = await realpath(path);
  } catch (fault) {
    throw mcpFault(
      server,
      'refused',
      `names a \`directory\` that cannot be read: ${messageOf(fault)}`,
      fault,
    );
  }
  if (isInside(repositoryRoot, source) || isInside(source, repositoryRoot))
    throw mcpFault(server, 'refused', 'names a `directory` that holds, or is part of, this repository');
  return { source, target: inside, writable: false };
}
