/* The diff of one file, hunk by hunk, with review of each hunk. */
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Highlighter, highlightLine, openHighlighter } from '../../screen/highlighter.ts';
import { type HunkLine, hunksOf, readHunks, type ShownHunk } from '../../screen/hunks.ts';
import { type Line, span, visible } from '../../screen/line.ts';
import { mayWrite, type Page, refusalWords } from '../page/page.ts';
import type { Patchset } from '../seen.ts';
import { h, oneLine, spans, text } from './parts.ts';
import { focusOnce } from './question/card-parts.ts';

interface FilesGiven {
  readonly page: Page;
  readonly patchset: Patchset;
  readonly mayReview: boolean;
}

/** The files of a patchset with their diffs. */
export function Files({ page, patchset, mayReview }: FilesGiven): VNode {
  const all = hunksOf(patchset, page.state.seen?.reviews);
  return h(
    'div',
    patchset.changes.map((change) =>
      h(FileDiff, {
        key: change.path,
        page,
        change,
        hunks: all.filter(({ path }) => path === change.path),
        mayReview,
      }),
    ),
  );
}

interface Given {
  readonly page: Page;
  readonly change: Patchset['changes'][number];
  readonly hunks: readonly ShownHunk[];
  readonly mayReview: boolean;
}

function FileDiff({ page, change, hunks, mayReview }: Given): VNode {
  const { path, changeType, diff = '', unshown = 0 } = change;
  // Hunks without ids cannot be reviewed.
  const plain = useMemo(() => readHunks(diff), [diff]);
  const shown = hunks.length > 0 ? hunks : plain;
  const [added, removed] = ['added', 'removed'].map((kind) =>
    shown.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0),
  );
  return h(
    'section.file',
    { 'aria-label': oneLine(path) },
    h(
      'h3',
      h(`span.tag.tag-${changeType}`, text(changeType)),
      h('code', oneLine(path)),
      shown.length > 0 && h('span.counts', h('span.good', `+${added}`), ' ', h('span.bad', `−${removed}`)),
    ),
    shown.map(({ header, lines }, at) => {
      const hunk = hunks[at];
      return h(
        'div',
        { key: hunk?.id ?? at, class: `hunk ${hunk?.verdict === undefined ? '' : `hunk-${hunk.verdict}`}` },
        h(HunkView, { path, header, lines }),
        hunk !== undefined && mayReview && h(HunkReview, { page, hunk }),
        hunk?.comment !== undefined && !mayReview && h('p.soft', text(hunk.comment)),
      );
    }),
    unshown > 0 && h('p.soft.unshown', `and ${unshown} more hunks: writ show has all of them`),
  );
}

interface ReviewedHunk {
  readonly patchset: string;
  readonly path: string;
  readonly id: string;
  readonly verdict?: 'keep' | 'reject';
  readonly comment?: string;
}

const verdicts = [
  ['keep', 'Keep'],
  ['reject', 'Reject'],
] as const;

/** Buttons and a field to keep, reject or comment on a hunk. */
function HunkReview({ page, hunk }: { readonly page: Page; readonly hunk: ReviewedHunk }): VNode {
  const { state, acts, drafts } = page;
  const { patchset, path, id, verdict, comment = '' } = hunk;
  const key = `hunk ${patchset} ${id}`;
  const [words, setWords] = useState(() => drafts.get(key) || comment);
  const [isOpen, open] = useState(drafts.get(key) !== '');
  const [isAskedFor, askFor] = useState(false);
  const [refused, setRefused] = useState('');
  const isShut = !mayWrite(state.standing);
  const say = async (said: ReviewedHunk['verdict']): Promise<void> => {
    const given = words.trim();
    const answer = await acts.write('reviews', {
      patchset,
      path,
      hunk: id,
      ...(said === undefined ? {} : { verdict: said }),
      ...(given === '' ? {} : { comment: given }),
    });
    setRefused(answer.ok ? '' : refusalWords(answer));
    if (!answer.ok) return;
    drafts.set(key, '');
    // A rejection without a reason opens the field for it.
    const wantsReason = said === 'reject' && given === '';
    if (wantsReason) askFor(true);
    open(wantsReason);
  };
  const type = ({ currentTarget }: Event): void => {
    const next = (currentTarget as HTMLInputElement).value;
    setWords(next);
    drafts.set(key, next);
  };
  const place = `of ${oneLine(path)}`;
  return h(
    'div.hunk-review',
    verdicts.map(([value, label]) =>
      h(
        'button',
        {
          key: value,

          class: `quiet verdict-${value}`,
          'aria-pressed': verdict === value,
          'aria-label': `${label} this hunk ${place}`,
          disabled: isShut,
          onClick: () => void say(value),
        },
        label,
      ),
    ),
    h(
      'button.quiet',
      {
        'aria-expanded': isOpen,
        'aria-label': `Comment on this hunk ${place}`,
        disabled: isShut,
        onClick: () => {
          askFor(true);
          open(!isOpen);
        },
      },
      'Comment',
    ),
    comment !== '' && !isOpen && h('span.soft', text(comment)),
    isOpen &&
      h(
        'form',
        {
          onSubmit: (event: Event) => {
            event.preventDefault();
            void say(verdict);
          },
        },
        h('input', {
          type: 'text',
          ref: isAskedFor ? focusOnce : undefined,
          value: words,
          autocomplete: 'off',
          'aria-label': `Words on this hunk ${place}`,
          placeholder:
            verdict === 'reject'
              ? 'why? The model gets the reason; Enter sends it'
              : 'why: goes along with Keep and Reject, Enter says it alone',
          onInput: type,
        }),
      ),
    refused !== '' && h('p.bad', { role: 'alert' }, text(refused)),
  );
}

interface HunkGiven {
  readonly path: string;
  readonly header: string;
  readonly lines: readonly HunkLine[];
}

const signs: Readonly<Record<HunkLine['kind'], string>> = { added: '+', removed: '-', same: ' ', note: '\\' };

/** A hunk in the colours of its language, memoized. */
export function HunkView({ path, header, lines }: HunkGiven): VNode {
  return useMemo(() => {
    const toned = tonedLines(path, lines);
    return h(
      'pre',
      { tabIndex: 0, 'aria-label': `Changes of ${oneLine(path)}` },
      header.length > 2 && h('span.line.line-hunk', oneLine(header), '\n'),
      lines.map(({ kind, oldLine, newLine }, at) =>
        h(
          'span',
          { key: at, class: `line line-${kind}` },
          h('span.number', { 'data-number': newLine ?? oldLine ?? '' }),
          h('span.sign', signs[kind]),
          ...spans(toned[at] ?? []),
          '\n',
        ),
      ),
    );
  }, [path, header, lines.length, JSON.stringify(lines)]);
}

/** File extensions that differ from the name of their language. */
const languageOf: Readonly<Record<string, string>> = {
  mts: 'ts',
  cts: 'ts',
  htm: 'html',
  yml: 'yaml',
  rs: 'rust',
  py: 'python',
};

/** The lines of a hunk in the tones of their language, by the ending of the path: each side reads on by itself. */
function tonedLines(path: string, lines: readonly HunkLine[]): readonly Line[] {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const language = languageOf[ending] ?? ending;
  let [old, now]: Highlighter[] = [openHighlighter(language), openHighlighter(language)];
  return lines.map(({ kind, text }) => {
    if (old === undefined || now === undefined || kind === 'note') return [span(visible(text), 'dim')];
    const { line, next } = highlightLine(kind === 'removed' ? old : now, text);
    if (kind === 'removed') old = next;
    else now = next;
    if (kind === 'same') old = highlightLine(old, text).next;
    return line;
  });
}
