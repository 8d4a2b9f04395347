import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxBackend, SandboxRequest, SandboxResult } from '../../../core/contract/sandbox.ts';
import { openEgress } from '../../tool/egress/open-egress.ts';
import type { Outside } from '../../tool/egress/outside.ts';

/** One plugin of others, and where its process may run. */
export interface PluginGroundwork {
  /** Every fault carries it. */
  readonly plugin: string;
  /** Host directory with the plugin's files and nothing else; read-only inside. */
  readonly directory: string;
  /** An empty host directory. */
  readonly empty: string;
  readonly sandbox: SandboxBackend;
  /** Entries of `networkHosts`; with none there is no network at all. */
  readonly hosts: readonly string[];
  /** What its process may hold; absent: what every sandbox may. */
  readonly maxMemoryBytes?: number;
  /** What the egress proxy takes for the network; absent: the real one. */
  readonly outside?: Outside;
}

const heapMiB = 256;
/** Everything a process can write to in memory: heap, buffers, WebAssembly. */
const dataKiB = 1024 * 1024;
/** A run ends before it does. */
const lifetimeMs = 7 * 24 * 3_600_000;
const maxSaidBytes = 64 * 1024;
/** A model may think for minutes before its next word. */
const patience = { idleMs: 300_000, connectionMs: 3_600_000 };
export const pluginInside = '/workspace';
const runtimeInside = '/runtime';
const entryInside = '/outside';

/**
 * Runs the process until it ends or the signal ends it and everything it started: its own files and the Node that runs
 * it are all it can read, it can write nowhere, and its declared hosts are its whole network.
 */
export async function runTalk(
  ground: PluginGroundwork,
  talk: NonNullable<SandboxRequest['talk']>,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const { plugin, hosts, outside, sandbox, empty, directory, maxMemoryBytes } = ground;
  const egress =
    hosts.length === 0
      ? undefined
      : await openEgress(await realpath(tmpdir()), {
          policy: { all: false, openings: [[{ hosts, reason: `plugin ${plugin}` }]] },
          limits: patience,
          ...(outside === undefined ? {} : { outside }),
        });
  try {
    const node = realpathSync(process.execPath);
    return await sandbox.run({
      argv: nodeWords(node),
      workspace: empty,
      reports: empty,
      binds: [
        // Over the two places that a check may write to.
        { source: directory, target: pluginInside, writable: false },
        { source: empty, target: '/reports', writable: false },
        { source: dirname(node), target: runtimeInside, writable: false },
        { source: fileURLToPath(new URL('./inside', import.meta.url)), target: entryInside, writable: false },
      ],
      env: {},
      network: egress?.network ?? 'none',
      timeoutMs: Math.min(lifetimeMs, 2 ** 31 - 1),
      maxOutputBytes: maxSaidBytes,
      talk,
      signal,
      ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
    });
  } finally {
    await egress?.close();
  }
}

function nodeWords(node: string): readonly string[] {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const readable = [pluginInside, entryInside, '/package.json'].map((path) => `--allow-fs-read=${path}`);
  // From Node 25 on the network is a permission too; what it leads to is the sandbox's business.
  const network = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];
  return [
    'sh',
    '-c',
    `ulimit -d ${dataKiB} && exec "$@"`,
    'sh',
    `${runtimeInside}/${basename(node)}`,
    `--max-old-space-size=${heapMiB}`,
    '--permission',
    ...readable,
    ...network,
    '--no-warnings',
    `${entryInside}/entry${extension}`,
  ];
}
