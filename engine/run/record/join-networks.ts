import type { CheckNetwork } from '../../../core/contract/network-use.ts';
import { UseList } from '../../tool/egress/use-list.ts';

/** Several networks of one check as one; `undefined` for none. */
export function joinNetworks(networks: readonly CheckNetwork[]): CheckNetwork | undefined {
  if (networks.length === 0) return undefined;
  const uses = new UseList();
  for (const use of networks.flatMap((network) => network.uses)) uses.add(use);
  const opened = new Map(networks.flatMap((one) => one.opened).map((one) => [JSON.stringify(one), one]));
  return { opened: [...opened.values()], uses: uses.list() };
}
