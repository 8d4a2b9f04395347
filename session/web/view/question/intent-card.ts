/* The card of a drafted contract. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { rowsOf, wordsOf } from '../../../screen/asked.ts';
import { contractParts, documentOf, documentParts } from '../../../screen/question-body.ts';
import { h, text } from '../parts.ts';
import { Prose } from '../prose.ts';
import { type CardGiven, Changes, NoteField, OptionButtons } from './card-parts.ts';

/** A drafted contract to be read before anything is done. */
export function IntentCard({ page, question, isShut, answer, choose, takes }: CardGiven): VNode {
  const { metadata, options } = question;
  const { changes, scope, checks, lacks, unusual } = listsOf(metadata);
  const { body, about } = documentParts(documentOf(question));
  const { essence, rest, names } = contractParts(body, { lacks: lacks.length > 0 });
  const [isModifying, modify] = useState(false);
  takes.current = (option) => {
    if (option === 'modify') modify(true);
    return option === 'modify';
  };
  const revision = Number(metadata.revision ?? 1);
  return h(
    'div.intent',
    h(
      'p.facts',
      `risk ${String(metadata.riskLevel ?? 'unknown')}`,
      revision > 1 && ` · draft ${revision}`,
      scope.length > 0 && ` · may write ${text(scope.join(', '))}`,
      checks.length > 0 && ` · checked by ${text(checks.join(', '))}`,
      metadata.networkPolicy === 'allow' && h('span.warn', ' · with a network'),
    ),
    h(Changes, { label: 'Missing here, and needed before it can be committed', changes: lacks, isBad: true }),
    h(Changes, { label: `Otherwise than is usual at ${String(metadata.riskLevel)} risk`, changes: unusual }),
    h(Changes, { label: 'What differs from the draft before', changes }),
    h(
      'div.read',
      { role: 'group', 'aria-label': 'The contract' },
      h(Prose, { source: essence }),
      rest !== '' && h('details.rest', h('summary', names.join(', ')), h(Prose, { source: rest })),
      about.trim() !== '' &&
        h('details', h('summary', 'Its id, its digest, its author'), h(Prose, { source: about })),
    ),
    isModifying &&
      h(NoteField, {
        page,
        question: question.id,
        isShut,
        label: 'What shall be different?',
        send: (note) => answer({ selectedOption: 'modify', note }),
      }),
    h('div.foot', h(OptionButtons, { options, isShut, choose, main: 'confirm' })),
  );
}

function listsOf({ changes, scope, checks, lacks, essence }: Readonly<Record<string, unknown>>) {
  return {
    changes: wordsOf(changes),
    scope: wordsOf(scope),
    checks: wordsOf(checks),
    lacks: wordsOf(lacks),
    unusual: wordsOf(rowsOf([essence])[0]?.unusual),
  };
}
