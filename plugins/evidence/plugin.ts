import { definePlugin } from '../../core/kernel/plugin.ts';
import { openWeb } from './open-web.ts';
import { pinnedOfficial } from './pinned-official.ts';
import { repoFirst } from './repo-first.ts';

/** What each value of `evidence.strategy` does. */
export const evidencePlugin = definePlugin({
  name: 'evidence',
  api: 1,
  enforces: [
    'evidence.strategy=repo-first',
    'evidence.strategy=pinned-official',
    'evidence.strategy=open-web',
  ],
  setup({ slots }) {
    slots.evidence.add('repo-first', repoFirst);
    slots.evidence.add('pinned-official', pinnedOfficial);
    slots.evidence.add('open-web', openWeb);
    return undefined;
  },
});
