/* The built-in workers: a model with writ's tools, Codex, or an external agent. */
import { WritError } from '../core/base/errors.ts';
import { definePlugin } from '../core/kernel/plugin.ts';
import { draftWith } from './converse.ts';
import { parseExternalChoice } from './external/recipes.ts';
import { parseModelChoice } from './instructions.ts';
import { workOn } from './work.ts';

/** Its name in slot `worker`. */
export const coderWorker = 'coder';

/** Its name, and that of the one provider that it works with. */
export const codexWorker = 'codex';

/** Its name: a program that the user chooses, run unmodified. */
export const externalWorker = 'external-agent';

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
    slots.worker.add(externalWorker, {
      open(from) {
        const { argv, recipe, ...chosen } = parseExternalChoice(from);
        return {
          name: externalWorker,
          usesModel: true,
          // The recipe names the provider; recipes are known once the configuration is read.
          model: { provider: externalWorker, flags: {}, ...chosen },
          external: { argv, recipe },
          cites: false,
          work: async () => {
            throw new WritError('INTERNAL', { message: 'the engine starts an external agent itself' });
          },
        };
      },
    });
    return undefined;
  },
});
