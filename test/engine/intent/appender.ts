import { systemClock } from '../../../core/base/clock.ts';
import { appendIntentEvents, replanEvent } from '../../../engine/intent/append-intent-events.ts';
import { withLandings } from '../../../engine/intent/find-intent.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { storeRefs } from '../../../store/stores.ts';
import { openRepository } from '../../../workspace/git/repository.ts';

// A process of its own that appends: DIRECTORY ID NAME COUNT.
const [directory = '', id = '', name = '', count = '0'] = process.argv.slice(2);
const repository = await openRepository(directory);
const objects = openGitNativeStore(repository, { clock: systemClock });
const store = withLandings(repository, { objects, refs: storeRefs('refs/ai') });
for (let at = 1; at <= Number(count); at += 1) {
  await appendIntentEvents(store, id, [
    replanEvent({
      by: name,
      trigger: 'repeated-test-fail',
      description: `${name} ${at}`,
      diffSummary: 'x',
      nowMs: systemClock.now(),
    }),
  ]);
}
