import type { ModelEvent } from '../../core/interfaces/model.ts';
import type { Told } from '../state/command.ts';

const maxName = 100;
/** Calls of one reply that are told of. */
const maxOpen = 32;

/** Tells of calls that a model is writing, for as long as it does. */
export function announcing(
  told: (report: Extract<Told, { readonly type: 'announced' }>) => void,
  newId: () => string,
): (event: ModelEvent) => void {
  let open: readonly string[] = [];
  return (event) => {
    if (event.type === 'calling') {
      const id = newId();
      if (open.length >= maxOpen) return;
      open = [...open, id];
      told({ type: 'announced', id, toolName: event.name.slice(0, maxName).toWellFormed() });
    }
    // A question that is put again begins anew: what the broken reply announced has come to nothing.
    if (event.type !== 'end' && event.type !== 'asked') return;
    for (const id of open) told({ type: 'announced', id });
    open = [];
  };
}
