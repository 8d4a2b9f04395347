/* Runs a plugin's process in the sandbox with its declared network. */
import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxBackend, SandboxRequest, SandboxResult } from '../../../core/interfaces/sandbox.ts';
import type { NetworkUse } from '../../../core/interfaces/scanner.ts';
import { type OpenEgress, openEgress } from '../../../workspace/egress/open-egress.ts';
import { UseList } from '../../../workspace/egress/openings.ts';
import type { Outside } from '../../../workspace/egress/outside.ts';

/** One plugin of others, and where its process may run. */
export interface PluginProcessSetup extends OutsiderPlace {
  /** Every fault carries it. */
  readonly plugin: string;
  readonly sandbox: SandboxBackend;
  /** Entries of `networkHosts`; if empty, the process has no network. */
  readonly hosts: readonly string[];
  /** The network that the egress proxy connects to; absent: the real one. */
  readonly outside?: Outside;
}

/** A run ends before it does. */
const lifetimeMs = 7 * 24 * 3_600_000;
const maxSaidBytes = 64 * 1024;
/** A model may think for minutes before its next word. */
const patience = { idleMs: 300_000, connectionMs: 3_600_000 };

/** Records the process's network use; `told` is called for each connection when it ends. */
interface TalkNetwork {
  readonly network: PluginNetwork;
  readonly told: (use: NetworkUse) => void;
}

/**
 * Runs the process until it ends or the signal ends it and everything it started: its own files and the Node that runs
 * it are all it can read, it can write nowhere, and its declared hosts are its whole network.
 */
export async function runTalk(
  ground: PluginProcessSetup,
  talk: NonNullable<SandboxRequest['talk']>,
  signal: AbortSignal,
  { network, told }: TalkNetwork,
): Promise<SandboxResult> {
  const { plugin, hosts, outside, sandbox } = ground;
  const egress =
    hosts.length === 0
      ? undefined
      : await openEgress(await realpath(tmpdir()), {
          policy: { all: false, openings: [[{ hosts, reason: `plugin ${plugin}` }]] },
          limits: patience,
          told,
          ...(outside === undefined ? {} : { outside }),
        });
  if (egress !== undefined) network.opened(egress);
  try {
    return await sandbox.run({
      ...thirdPartySandbox(ground, new URL('./inside', import.meta.url), [], true),
      network: egress?.network ?? 'none',
      timeoutMs: Math.min(lifetimeMs, 2 ** 31 - 1),
      maxOutputBytes: maxSaidBytes,
      talk,
      signal,
    });
  } finally {
    if (egress !== undefined) await network.closed(egress);
  }
}

/** Where a process of somebody else's code may run. */
export interface OutsiderPlace {
  /** Host directory that holds only the plugin's files; read-only inside the sandbox. */
  readonly directory: string;
  /** An empty host directory. */
  readonly empty: string;
  /** What its process may hold; absent: what every sandbox may. */
  readonly maxMemoryBytes?: number;
}

const heapMiB = 256;
/** Data limit of the process (`ulimit -d`): heap, buffers and WebAssembly. The heap's own limit is far below it. */
const dataKiB = 1024 * 1024;
/** Where the plugin's files are inside. */
export const pluginInside = '/workspace';
const runtimeInside = '/runtime';
const entryInside = '/outside';

/**
 * A Node process that can read only the plugin's files and the `entry` directory (ours), and can write no file. It
 * runs `entry` with `args`. `mayConnect` grants Node's network permission; the sandbox then controls the network.
 */
export function thirdPartySandbox(
  { directory, empty, maxMemoryBytes }: OutsiderPlace,
  entry: URL,
  args: readonly string[],
  mayConnect: boolean,
): Pick<SandboxRequest, 'argv' | 'workspace' | 'reports' | 'binds' | 'env' | 'maxMemoryBytes'> {
  const node = realpathSync(process.execPath);
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const readable = [pluginInside, entryInside, '/package.json'].map((path) => `--allow-fs-read=${path}`);
  // From Node 25 on the network is a permission too.
  const asksNetwork = mayConnect && process.allowedNodeEnvironmentFlags.has('--allow-net');
  return {
    argv: [
      'sh',
      '-c',
      `ulimit -d ${dataKiB} && exec "$@"`,
      'sh',
      `${runtimeInside}/${basename(node)}`,
      `--max-old-space-size=${heapMiB}`,
      '--permission',
      ...readable,
      ...(asksNetwork ? ['--allow-net'] : []),
      '--no-warnings',
      `${entryInside}/entry${extension}`,
      ...args,
    ],
    workspace: empty,
    reports: empty,
    binds: [
      // Over the two places that a check may write to.
      { source: directory, target: pluginInside, writable: false },
      { source: empty, target: '/reports', writable: false },
      { source: dirname(node), target: runtimeInside, writable: false },
      { source: fileURLToPath(entry), target: entryInside, writable: false },
    ],
    env: {},
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
  };
}

/** What the processes of one plugin had of the network, those that have ended too. */
export interface PluginNetwork {
  opened(egress: OpenEgress): void;
  /** Closes it and keeps its record. */
  closed(egress: OpenEgress): Promise<void>;
  /** Alike connections together, with those that are open. */
  uses(): readonly NetworkUse[];
}

/** Of a plugin that has not been started. */
export function pluginNetwork(): PluginNetwork {
  const ended = new UseList();
  const open = new Set<OpenEgress>();
  return {
    opened: (egress) => void open.add(egress),
    async closed(egress) {
      const uses = await egress.close();
      open.delete(egress);
      for (const use of uses) ended.add(use);
    },
    uses() {
      const all = new UseList();
      for (const use of [...ended.list(), ...[...open].flatMap((one) => one.seen())]) all.add(use);
      return all.list();
    },
  };
}
