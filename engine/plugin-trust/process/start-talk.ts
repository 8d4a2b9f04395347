import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { NetworkUse } from '../../../core/contract/network-use.ts';
import type { SandboxBackend, SandboxRequest, SandboxResult } from '../../../core/contract/sandbox.ts';
import { openEgress } from '../../tool/egress/open-egress.ts';
import type { Outside } from '../../tool/egress/outside.ts';
import { type OutsiderPlace, outsiderBox } from './outsider-box.ts';
import type { PluginNetwork } from './plugin-network.ts';

/** One plugin of others, and where its process may run. */
export interface PluginGroundwork extends OutsiderPlace {
  /** Every fault carries it. */
  readonly plugin: string;
  readonly sandbox: SandboxBackend;
  /** Entries of `networkHosts`; with none there is no network at all. */
  readonly hosts: readonly string[];
  /** What the egress proxy takes for the network; absent: the real one. */
  readonly outside?: Outside;
}

/** A run ends before it does. */
const lifetimeMs = 7 * 24 * 3_600_000;
const maxSaidBytes = 64 * 1024;
/** A model may think for minutes before its next word. */
const patience = { idleMs: 300_000, connectionMs: 3_600_000 };

/** Where the record of a process's network is kept, and who is told of each connection as it ends. */
interface TalkNetwork {
  readonly network: PluginNetwork;
  readonly told: (use: NetworkUse) => void;
}

/**
 * Runs the process until it ends or the signal ends it and everything it started: its own files and the Node that runs
 * it are all it can read, it can write nowhere, and its declared hosts are its whole network.
 */
export async function runTalk(
  ground: PluginGroundwork,
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
      ...outsiderBox(ground, new URL('./inside', import.meta.url), [], true),
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
