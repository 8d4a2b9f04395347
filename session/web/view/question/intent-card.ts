import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { wordsOf } from '../../../screen/question/asked.ts';
import { documentOf, documentParts } from '../../../screen/question/document-of.ts';
import { h } from '../h.ts';
import { Prose } from '../prose.ts';
import { text } from '../text.ts';
import type { CardGiven } from './card-given.ts';
import { Changes } from './changes.ts';
import { NoteField } from './note-field.ts';
import { OptionButtons } from './option-buttons.ts';

/** A drafted contract to be read before anything is done. */
export function IntentCard({ page, question, isShut, answer, choose, takes }: CardGiven): VNode {
  const { metadata, options } = question;
  const [changes, scope, checks] = [metadata.changes, metadata.scope, metadata.checks].map(wordsOf) as [
    readonly string[],
    readonly string[],
    readonly string[],
  ];
  const { body, about } = documentParts(documentOf(question));
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
      scope.length > 0 && ` · may write ${text(scope.join(', '))}`,
      checks.length > 0 && ` · checked by ${text(checks.join(', '))}`,
    ),
    h(Changes, { label: 'What differs from the draft before', changes }),
    h(
      'div',
      { class: 'read', tabIndex: 0, role: 'group', 'aria-label': 'The contract' },
      h(Prose, { source: body }),
      about.trim() !== '' &&
        h('details', null, h('summary', null, 'Its id, its digest, its author'), h(Prose, { source: about })),
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
