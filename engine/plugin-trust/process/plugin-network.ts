import type { NetworkUse } from '../../../core/contract/network-use.ts';
import type { OpenEgress } from '../../tool/egress/open-egress.ts';
import { UseList } from '../../tool/egress/use-list.ts';

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
