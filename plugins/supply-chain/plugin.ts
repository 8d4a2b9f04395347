import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import { sbomProducer } from './sbom.ts';
import { createScaReportProducer, type ScaReportOptions } from './sca-report.ts';

/** What a candidate is made of, where no check said so: `sbom`, and `sca-report` by the user's advisories. */
export function supplyChainPlugin({ env }: Pick<ScaReportOptions, 'env'>): LoadedPlugin {
  return definePlugin({
    name: 'supply-chain',
    api: 1,
    enforces: ['artifacts.required.name=sbom'],
    setup({ slots, clock }) {
      slots.artifact.add('sbom', sbomProducer);
      slots.artifact.add('sca-report', createScaReportProducer({ env, clock }));
      return undefined;
    },
  });
}
