import type { ModelEvent } from '../../core/interfaces/model.ts';
import type { Told } from '../state/command.ts';

/**
 * The pieces of a reply as reports under one id, and the whole text so far. If a reply broke or was refused, and its
 * question is put again, or if the text so far was reasoning, the text begins again.
 */
export function replyPieces(
  told: (report: Extract<Told, { readonly type: 'replying' }>) => void,
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
