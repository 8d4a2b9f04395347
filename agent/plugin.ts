/* The built-in workers: a model with writ's tools, or Codex. */
import { definePlugin } from '../core/kernel/plugin.ts';
import { draftWith } from './converse.ts';
import { parseModelChoice } from './instructions.ts';
import { workOn } from './work.ts';

/** Its name in slot `worker`. */
export const coderWorker = 'coder';

/** Its name, and that of the one provider that it works with. */
export const codexWorker = 'codex';

/** Who does the Tasks with a provider. */
export function workerOf(provider: string): string {
  return provider === codexWorker ? codexWorker : coderWorker;
}

/** A worker in which a model does the Tasks, made of the choice of one. */
export const coderPlugin = definePlugin({
  name: 'coder',
  api: 1,
  setup({ slots }) {
    slots.worker.add(coderWorker, {
      open: (from) => ({
        name: coderWorker,
        usesModel: true,
        model: parseModelChoice(from),
        work: workOn,
        draft: draftWith,
      }),
    });
    slots.worker.add(codexWorker, {
      open: (from) => ({
        name: codexWorker,
        usesModel: true,
        model: parseModelChoice(from),
        cites: false,
        work: async (order) => (await import('./codex/converse.ts')).workWithCodex(order),
        draft: draftWith,
      }),
    });
    return undefined;
  },
});
