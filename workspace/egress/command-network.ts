/* The network of a check: what the spec opens, and what was refused. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { SandboxBackend, SandboxRequest } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import { openEgress } from './open-egress.ts';
import { type EgressPolicy, UseList } from './openings.ts';
import type { Outside } from './outside.ts';

/** The run whose command is given a network. */
interface NetworkOwner {
  readonly identity: { readonly contract: { readonly effective: Pick<EffectiveIntentSpec, 'constraints'> } };
  readonly services: { readonly privateRoot: string; readonly settings: { readonly outside?: Outside } };
}

/** What a command gets of the network while it runs. */
interface OpenNetwork {
  readonly network: SandboxRequest['network'];
  /** Closes it; what was open and what came of it, where anything was. */
  close(): Promise<CheckNetwork | undefined>;
}

/**
 * Opens the network that the spec allows for one command. `networkPolicy: allow` opens every public host; otherwise
 * the hosts of the matching tool rules are open, or none. A scanner gets no network. Without a sandbox the command
 * uses this machine's network, which cannot be recorded.
 */
export async function openNetwork(
  { identity: { contract }, services: { privateRoot, settings } }: NetworkOwner,
  { sandbox }: { readonly sandbox: Pick<SandboxBackend, 'unconfined'> },
  { openings = [], isShut = false }: Partial<Pick<EgressPolicy, 'openings'>> & { readonly isShut?: boolean },
  /** Waited for before anything leaves the machine; without a sandbox, before the command. */
  leaving?: () => Promise<void>,
): Promise<OpenNetwork> {
  if (sandbox.unconfined) {
    await leaving?.();
    return { network: 'host', close: async () => undefined };
  }
  const all = !isShut && contract.effective.constraints.security.networkPolicy === 'allow';
  if (!all && openings.length === 0) return { network: 'none', close: async () => undefined };
  const egress = await openEgress(privateRoot, {
    policy: { all, openings },
    leaving,
    ...(settings.outside === undefined ? {} : { outside: settings.outside }),
  });
  const opened = [
    ...(all ? [{ hosts: ['*'], reason: 'networkPolicy: allow' }] : []),
    ...new Map(openings.flat().map((one) => [JSON.stringify(one), one])).values(),
  ];
  return { network: egress.network, close: async () => ({ opened, uses: await egress.close() }) };
}

/** Several networks of one check as one; `undefined` for none. */
export function joinNetworks(networks: readonly CheckNetwork[]): CheckNetwork | undefined {
  if (networks.length === 0) return undefined;
  const uses = new UseList();
  for (const use of networks.flatMap((network) => network.uses)) uses.add(use);
  const opened = new Map(networks.flatMap((one) => one.opened).map((one) => [JSON.stringify(one), one]));
  return { opened: [...opened.values()], uses: uses.list() };
}
