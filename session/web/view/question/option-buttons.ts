import type { VNode } from 'preact';
import { letterOf } from '../../words/option-keys.ts';
import { h } from '../h.ts';
import { text } from '../text.ts';

interface Option {
  readonly id: string;
  readonly label: string;
}

interface Given {
  readonly options: readonly Option[];
  readonly isShut: boolean;
  readonly choose: (option: string) => void;
  /** What each would cover, by option. */
  readonly covers?: Readonly<Record<string, unknown>>;
  /** The one that goes on. */
  readonly main?: string;
  /** Those that stay open are shown elsewhere. */
  readonly without?: readonly string[];
}

/** The options of a question, each with the key that chooses it. */
export function OptionButtons({ options, isShut, choose, covers, main, without = [] }: Given): VNode {
  const buttons = options.map((option, at) => {
    const { id, label } = option;
    const covered = covers?.[id];
    if (without.includes(id)) return null;
    const key = letterOf(id) ?? `${at + 1}`;
    return h(
      'li',
      { key: id },
      h(
        'button',
        {
          type: 'button',
          class: id === main ? 'main' : '',
          disabled: isShut,
          'aria-keyshortcuts': `${at + 1} ${key}`,
          onClick: () => choose(id),
        },
        h('kbd', { 'aria-hidden': 'true' }, key),
        text(label),
      ),
      typeof covered === 'string' && h('span', { class: 'covers' }, text(covered)),
    );
  });
  return h('ul', { class: covers === undefined ? 'options' : 'options covered' }, buttons);
}
