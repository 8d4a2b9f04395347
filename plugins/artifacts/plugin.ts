import { definePlugin } from '../../core/kernel/plugin.ts';
import { patchsetProducer } from './patchset.ts';
import { releaseNotesProducer } from './release-notes.ts';

/** What the engine makes of a change itself where no check delivered it: `patchset` and `release-notes`. */
export const artifactsPlugin = definePlugin({
  name: 'artifacts',
  api: 1,
  enforces: [
    'artifacts.required.name=patchset',
    'artifacts.required.name=release-notes',
    'objmodel.runPolicy.patchsetFormat',
  ],
  setup({ slots }) {
    slots.artifact.add('patchset', patchsetProducer);
    slots.artifact.add('release-notes', releaseNotesProducer);
    return undefined;
  },
});
