import type { VNode } from 'preact';
import { letterOf } from '../../../screen/question/option-letters.ts';
import { h } from '../h.ts';
import { oneLine, text } from '../text.ts';

interface Option {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
}

interface Given {
  readonly options: readonly Option[];
  readonly isShut: boolean;
  readonly choose: (option: string) => void;
  /** What each would cover stands beside it. */
  readonly isCovered?: true;
  /** The one that goes on. */
  readonly main?: string;
  /** Those that stay open are shown elsewhere. */
  readonly without?: readonly string[];
}

/** The options of a question, each with the key that chooses it. */
export function OptionButtons({ options, isShut, choose, isCovered, main, without = [] }: Given): VNode {
  const buttons = options.map((option, at) => {
    const { id, label, description } = option;
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
          title: isCovered || description === undefined ? undefined : oneLine(description),
          'aria-keyshortcuts': `${at + 1} ${key === key.toLowerCase() ? key : `Shift+${key}`}`,
          onClick: () => choose(id),
        },
        h('kbd', { 'aria-hidden': 'true' }, key),
        text(label),
      ),
      isCovered && description !== undefined && h('span', { class: 'covers' }, text(description)),
    );
  });
  return h('ul', { class: isCovered ? 'options covered' : 'options' }, buttons);
}
