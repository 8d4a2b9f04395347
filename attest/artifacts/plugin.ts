import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import { patchsetProducer } from './patchset.ts';
import { releaseNotesProducer } from './release-notes.ts';
import { sbomProducer } from './sbom.ts';
import { createScaReportProducer, type ScaReportOptions } from './sca-report.ts';

/** The artifacts that the engine makes where no check delivered them: `patchset`, `sbom`, `sca-report`, `release-notes`. */
export function artifactsPlugin(options: ScaReportOptions): LoadedPlugin {
  return definePlugin({
    name: 'artifacts',
    api: 1,
    enforces: [
      'artifacts.required.name=patchset',
      'artifacts.required.name=sbom',
      'artifacts.required.name=release-notes',
      'objmodel.runPolicy.patchsetFormat',
    ],
    setup({ slots }) {
      slots.artifact.add('patchset', patchsetProducer);
      slots.artifact.add('sbom', sbomProducer);
      slots.artifact.add('sca-report', createScaReportProducer(options));
      slots.artifact.add('release-notes', releaseNotesProducer);
      return undefined;
    },
  });
}
