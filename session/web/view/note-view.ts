import type { VNode } from 'preact';
import { readGate } from '../../screen/words/gates-in.ts';
import { commandsOf, readOutcome } from '../../screen/words/outcome-of.ts';
import type { Entry } from '../seen.ts';
import { Command } from './command.ts';
import { FailedList } from './failed-list.ts';
import { h } from './h.ts';
import { Prose } from './prose.ts';
import { sentence, text } from './text.ts';

/** How a note is headed: a gate in one line with what it came to, a decision and a failure in their colours. */
export function noteHead(entry: Entry): readonly (VNode | false)[] {
  const gate = readGate(entry);
  if (gate !== undefined)
    return [
      h('span', { class: 'by' }, text(`Gate ${gate.stage}`)),
      h('span', { class: `tag tag-${gate.status}` }, text(gate.status)),
      gate.status !== 'skipped' && h('span', { class: 'soft' }, text(gate.words)),
    ];
  const { title = 'Note' } = entry;
  return [h('span', { class: `by ${toneOf(title)}` }, text(title))];
}

/** What a note says below its head; nothing where that says it all. */
export function noteBody(entry: Entry): VNode | false {
  const gate = readGate(entry);
  if (gate !== undefined) return gate.failed.length > 0 && h(FailedList, { failed: gate.failed });
  const outcome = readOutcome(entry);
  if (outcome === undefined) return h(Prose, { source: entry.content ?? '', isOpen: entry.streaming });
  return h(
    'div',
    { class: 'told-outcome' },
    h('p', null, sentence(outcome.words)),
    outcome.commit !== undefined && h('p', null, 'commit ', h('code', null, text(outcome.commit))),
    commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
  );
}

const goodTitles: readonly string[] = ['Decision.Commit', 'Verified'];
const badTitles: readonly string[] = ['Failed', 'Not verified', 'No sandbox'];

function toneOf(title: string): string {
  if (goodTitles.includes(title)) return 'good';
  return badTitles.includes(title) || title.startsWith('Decision.') ? 'bad' : '';
}
