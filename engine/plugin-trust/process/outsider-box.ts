import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxRequest } from '../../../core/contract/sandbox.ts';

/** Where a process of somebody else's code may run. */
export interface OutsiderPlace {
  /** Host directory with the plugin's files and nothing else; read-only inside. */
  readonly directory: string;
  /** An empty host directory. */
  readonly empty: string;
  /** What its process may hold; absent: what every sandbox may. */
  readonly maxMemoryBytes?: number;
}

const heapMiB = 256;
/** Everything a process can write to in memory: heap, buffers, WebAssembly. The heap's own bound lies well below. */
const dataKiB = 1024 * 1024;
/** Where the plugin's files are inside. */
export const pluginInside = '/workspace';
const runtimeInside = '/runtime';
const entryInside = '/outside';

/**
 * A Node that can read the plugin's files and the `entry`s (a directory of ours) and nothing else, and write nowhere.
 * It runs `entry` with `args`; `mayConnect` where its network, if it has one, is the sandbox's business.
 */
export function outsiderBox(
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
