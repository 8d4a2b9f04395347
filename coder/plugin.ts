import { definePlugin } from '../core/kernel/plugin.ts';
import { parseModelChoice } from './model-choice.ts';
import { workOn } from './work.ts';

/** Its name in slot `worker`. */
export const coderWorker = 'coder';

/** A worker in which a model does the Tasks, made of the choice of one. */
export const coderPlugin = definePlugin({
  name: 'coder',
  api: 1,
  setup({ slots }) {
    slots.worker.add(coderWorker, {
      open: (from) => ({ name: coderWorker, usesModel: true, model: parseModelChoice(from), work: workOn }),
    });
    return undefined;
  },
});
