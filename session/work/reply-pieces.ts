/** Reports streamed replies and announced calls of a model. */
import type { ModelEvent } from '../../core/interfaces/model.ts';
import type { TurnReport } from '../state/command.ts';

/**
 * The pieces of a reply as reports under one id, and the whole text so far. If a reply broke or was refused, and its
 * question is put again, or if the text so far was reasoning, the text begins again.
 */
export function replyPieces(
  told: (report: Extract<TurnReport, { readonly type: 'replying' }>) => void,
  newId: () => string,
): { hear(event: ModelEvent): void; id(): string; text(): string; next(): void } {
  let id = newId();
  let text = '';
  let isOver = false;
  return {
    hear(event) {
      if (event.type === 'asked' || event.type === 'end') isOver = text !== '';
      if (event.type === 'reasoned') {
        isOver = text !== '';
        text = '';
      }
      if (event.type !== 'text') return;
      told({ type: 'replying', id, text: event.text, ...(isOver ? { isAnew: true } : {}) });
      text = isOver ? event.text : text + event.text;
      isOver = false;
    },
    id: () => id,
    text: () => text,
    next() {
      id = newId();
      text = '';
      isOver = false;
    },
  };
}

const maxName = 100;
/** Calls of one reply that are announced. */
const maxOpen = 32;

/** Reports the calls that a model is writing. */
export function announcing(
  told: (report: Extract<TurnReport, { readonly type: 'announced' }>) => void,
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
    // A retry discards what the broken reply announced.
    if (event.type !== 'end' && event.type !== 'asked') return;
    for (const id of open) told({ type: 'announced', id });
    open = [];
  };
}
