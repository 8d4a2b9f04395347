import type { VNode } from 'preact';
import { readHunks } from '../../../screen/hunks.ts';
import { changeAsked } from '../../../screen/question/change-asked.ts';
import type { Question } from '../../seen.ts';
import { fileOf } from '../../words/read-approval.ts';
import { h } from '../h.ts';
import { HunkView } from '../hunk-view.ts';
import { oneLine } from '../text.ts';

/** What a use would write, where an approval is about one: nobody can judge a change that he does not see. */
export function ChangeView({ question }: { readonly question: Question }): VNode | null {
  const change = changeAsked(question);
  if (change === undefined) return null;
  const { diff, note, unshown } = change;
  const hunks = readHunks(diff);
  const count = (kind: string): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return h(
    'section',
    { class: 'asked-change', 'aria-label': 'What it would change' },
    h(
      'p',
      { class: 'label' },
      'What it would change',
      // Of a part nobody is told that it is all.
      hunks.length > 0 &&
        unshown === 0 &&
        h(
          'span',
          { class: 'counts' },
          h('span', { class: 'good' }, `+${count('added')}`),
          ' ',
          h('span', { class: 'bad' }, `−${count('removed')}`),
        ),
      note !== '' && `: ${oneLine(note)}`,
    ),
    hunks.length > 0 &&
      h(
        'div',
        { class: 'file' },
        hunks.map(({ header, lines }, at) =>
          h(HunkView, { key: at, path: fileOf(question.metadata), header, lines }),
        ),
      ),
    unshown > 0 &&
      h('p', { class: 'soft' }, `and ${unshown} more lines: the pane Diff shows what the model proposes`),
  );
}
