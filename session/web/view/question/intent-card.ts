import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { h } from '../h.ts';
import { Prose } from '../prose.ts';
import { text } from '../text.ts';
import type { CardGiven } from './card-given.ts';
import { NoteField } from './note-field.ts';
import { OptionButtons } from './option-buttons.ts';

/** A drafted contract to be read before anything is done. */
export function IntentCard({ page, question, isShut, answer, choose, takes }: CardGiven): VNode {
  const { description = '', metadata, options } = question;
  const changes = (metadata.changes ?? []) as readonly string[];
  const [isModifying, modify] = useState(false);
  takes.current = (option) => {
    if (option === 'modify') modify(true);
    return option === 'modify';
  };
  const revision = Number(metadata.revision ?? 1);
  return h(
    'div',
    { class: 'intent' },
    h(
      'p',
      { class: 'facts' },
      `risk ${String(metadata.riskLevel ?? 'unknown')}`,
      revision > 1 && ` · draft ${revision}`,
    ),
    changes.length > 0 &&
      h(
        'ul',
        { class: 'changes', 'aria-label': 'What differs from the draft before' },
        changes.map((one) => h('li', { key: one }, text(one))),
      ),
    h(
      'div',
      { class: 'read', tabIndex: 0, role: 'group', 'aria-label': 'The contract' },
      h(Prose, { source: description }),
    ),
    isModifying &&
      h(NoteField, {
        page,
        question: question.id,
        isShut,
        label: 'What shall be different?',
        send: (note) => answer({ selectedOption: 'modify', note }),
      }),
    h(OptionButtons, { options, isShut, choose, main: 'confirm' }),
  );
}
