import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxEgress } from '../../../core/contract/sandbox.ts';
import type { EgressOptions, EgressProxy } from './egress-proxy.ts';
import { socketName } from './inside.ts';

/** A proxy for one check, and what a sandbox needs to reach it. */
export interface OpenEgress extends EgressProxy {
  readonly network: SandboxEgress;
}

/** Starts a proxy whose socket is alone in a new directory under `parent`, mode 0700; `close` removes it. */
export async function openEgress(
  parent: string,
  options: Omit<EgressOptions, 'socket'>,
): Promise<OpenEgress> {
  // HTTP is twenty milliseconds of loading, and most checks have no way out.
  const { startEgressProxy } = await import('./egress-proxy.ts');
  const way = await mkdtemp(join(parent, 'egress-'));
  // A socket's path holds about a hundred octets; the way through a descriptor is short wherever the directory is.
  const directory = await open(way, 'r');
  try {
    const proxy = await startEgressProxy({
      ...options,
      socket: `/proc/self/fd/${directory.fd}/${socketName}`,
    });
    return {
      network: { way },
      seen: () => proxy.seen(),
      async close() {
        try {
          return await proxy.close();
        } finally {
          await directory.close();
          await rm(way, { recursive: true, force: true });
        }
      },
    };
  } catch (fault) {
    await directory.close();
    await rm(way, { recursive: true, force: true });
    throw fault;
  }
}
