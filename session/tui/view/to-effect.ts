import type { Effect as Composed } from '../composer/composer.ts';
import { readLocal } from '../local-commands.ts';
import type { Effect } from './view.ts';

/** What the composer asks for, as the screen does it; the rest is the view's own affair. */
export function toEffect(effect: Composed): readonly Effect[] {
  switch (effect.type) {
    case 'submit': {
      const command = readLocal(effect.text);
      const { text } = effect;
      return [command === undefined ? { type: 'submit', text } : { type: 'local', command, text }];
    }
    case 'edit-outside':
      return [{ type: 'edit', text: effect.text }];
    case 'complete-path':
      return [{ type: 'complete', prefix: effect.prefix, id: effect.id }];
    case 'interrupt':
      return [{ type: 'cancel' }];
    case 'help':
      return [{ type: 'local', command: { type: 'keys' } }];
    case 'take-back':
      return [{ type: 'local', command: { type: 'reclaim' } }];
    case 'quit':
    case 'suspend':
    case 'redraw':
      return [{ type: effect.type }];
    case 'go-back':
    case 'cycle-context':
      return [];
  }
}
