import { definePlugin } from '../../core/kernel/plugin.ts';
import { createRecordedWorker, parseRecording } from './worker.ts';

/** Its name in slot `worker`. */
export const recordedWorker = 'recorded';

/** A worker that answers from a recording (`docs/recording.md`). RECORDING_MALFORMED. */
export const recordedWorkerPlugin = definePlugin({
  name: 'recorded-worker',
  api: 1,
  setup({ slots, clock }) {
    slots.worker.add(recordedWorker, {
      open: (bytes) => createRecordedWorker(parseRecording(bytes), clock.sleep),
    });
    return undefined;
  },
});
