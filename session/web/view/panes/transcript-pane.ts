/* The pane Transcript with its entries. It loads earlier ones and keeps the reading place. */
import type { RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { attachmentMarks, commandsOf, type Outcome, readGate, readOutcome } from '../../../screen/words.ts';
import { groupsOf, keepPlace, mostBefore, type ReadingPlace, readPlace } from '../../page/keep-transcript.ts';
import type { Page } from '../../page/page.ts';
import type { Entry } from '../../seen.ts';
import { Command, FailedList, h, oneLine, sentence, text, timeWords, toolLine } from '../parts.ts';
import { Prose } from '../prose.ts';

const groupSize = 50;
/** Pixels from the end within which the list follows it. */
const endPx = 48;
/** Pixels from the beginning within which earlier entries are loaded. */
const beginPx = 600;

/** The transcript, oldest first. A reader at the end stays there; elsewhere the place is kept. */
export function TranscriptPane({ page }: { readonly page: Page }): VNode {
  const { state, acts } = page;
  const { seen, before, paging } = state;
  const transcript = seen?.transcript ?? [];
  const list = useRef<HTMLElement | null>(null);
  const isAtEnd = useRef(true);
  const top = useRef(0);
  const wasDrawn = useRef(false);
  const [hasNew, setNew] = useState(false);
  const groups = useMemo(
    () => groupsOf([...before.entries, ...transcript], groupSize, before.from),
    [before, transcript],
  );
  const last = transcript.at(-1);
  useLayoutEffect(() => {
    const place = list.current;
    if (place === null) return;
    if (!isAtEnd.current) setNew(wasDrawn.current);
    // Reading the height forces a layout; the ResizeObserver follows growth without one.
    else if (!wasDrawn.current || before.entries.length >= mostBefore) place.scrollTop = place.scrollHeight;
    wasDrawn.current = true;
  }, [last]);
  useKeptPlace(list, before.from);
  useRestoredPlace(list, isAtEnd, page);
  useEffect(() => {
    const place = list.current;
    if (place === null) return;
    const keep = new ResizeObserver(() => {
      if (isAtEnd.current) place.scrollTop = place.scrollHeight;
    });
    keep.observe(place);
    // What comes near the screen is drawn then, and is not as high as was thought.
    if (place.firstElementChild !== null) keep.observe(place.firstElementChild);
    return () => keep.disconnect();
  }, []);
  const toEnd = (): void => {
    if (list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  };
  return h(
    'div.transcript',
    h(
      'div.entries',
      {
        ref: list,
        role: 'log',
        'aria-label': 'What was said',
        'aria-live': 'off',
        'aria-busy': paging === 'asking',
        tabIndex: 0,
        onScroll: ({ currentTarget }: Event) => {
          const place = currentTarget as HTMLElement;
          const isNear = place.scrollHeight - place.scrollTop - place.clientHeight < endPx;
          const goesUp = place.scrollTop < top.current;
          // Growth below must not count as leaving the end.
          if (isNear) isAtEnd.current = true;
          else if (goesUp) isAtEnd.current = false;
          top.current = place.scrollTop;
          if (isAtEnd.current) setNew(false);
          // After a failure only the button loads again.
          if (goesUp && place.scrollTop < beginPx && paging === 'ready') void acts.loadEarlier();
        },
      },
      h(
        'div',
        h(EarlierLine, { state, acts, list }),
        transcript.length === 0 &&
          h(
            'p.empty',
            state.standing === 'closed'
              ? 'No messages yet. They appear here as they come.'
              : 'Nothing was said yet. Say what shall change, or /ask a question.',
          ),
        groups.map(({ key, entries }) => h(Group, { key, entries })),
      ),
    ),
    hasNew && h('button.to-end', { onClick: toEnd }, 'New below'),
  );
}

/** Entries that are drawn together, and only where they are near the screen; the same ones are not looked at again. */
function Group({ entries }: { readonly entries: readonly Entry[] }): VNode {
  const drawn = useRef<{ readonly entries: readonly Entry[]; readonly view: VNode } | undefined>(undefined);
  const isSame =
    drawn.current?.entries.length === entries.length &&
    entries.every((entry, at) => entry === drawn.current?.entries[at]);
  if (drawn.current === undefined || !isSame) {
    const views = entries.map((entry) => h(EntryView, { key: entry.id, entry }));
    drawn.current = { entries, view: h('div.group', views) };
  }
  return drawn.current.view;
}

/** A button that loads earlier entries, and an announcement of what was loaded. */
function EarlierLine({
  state: { before, paging, loaded },
  acts,
  list,
}: Pick<Page, 'state' | 'acts'> & { readonly list: RefObject<HTMLElement | null> }): VNode {
  const { from, entries } = before;
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = button.current !== null && document.activeElement === button.current;
  useLayoutEffect(() => {
    if (from === 0 && hadFocus) list.current?.focus({ preventScroll: true });
  }, [from]);
  const isFull = entries.length >= mostBefore;
  return h(
    'div',
    h(
      'p.heard',
      { role: 'status' },
      paging === 'asking'
        ? 'Loading earlier entries.'
        : loaded > 0
          ? `${loaded} earlier ${loaded === 1 ? 'entry' : 'entries'} loaded, ${from} before them.`
          : '',
    ),
    from > 0 && isFull && h('p.soft', `${from} earlier entries are in the thread on disk.`),
    from > 0 &&
      !isFull &&
      h(
        'button.earlier',
        {
          ref: button,
          // One that is disabled loses the focus.
          'aria-disabled': paging === 'asking',
          onClick: () => void acts.loadEarlier(),
        },
        paging === 'asking' ? 'Loading…' : `Load earlier (${from})`,
      ),
  );
}

/** Keeps the first visible entry at its height when earlier entries are loaded; `from` changes then. */
function useKeptPlace(list: RefObject<HTMLElement | null>, from: number): void {
  const known = useRef(from);
  const held = useRef<ReturnType<typeof firstSeen>>(undefined);
  // Measured before the new entries are drawn.
  if (known.current !== from) held.current = firstSeen(list.current);
  known.current = from;
  useLayoutEffect(() => {
    const place = list.current;
    const { node, top } = held.current ?? {};
    held.current = undefined;
    if (place !== null && top !== undefined && node?.isConnected) scrollTo(place, node, top);
  }, [from]);
}

/** Frames in which what comes near the screen is drawn, and is not as high as was thought. */
const settlingFrames = 8;

/** Restores the reading place after a reload or another pane, and loads the entries before it first. */
function useRestoredPlace(
  list: RefObject<HTMLElement | null>,
  isAtEnd: RefObject<boolean>,
  { state: { seen, before, paging }, acts, drafts }: Page,
): void {
  const thread = seen?.threadId;
  const wanted = useRef<ReadingPlace | undefined>(undefined);
  const isFirst = useRef(true);
  if (isFirst.current) wanted.current = readPlace(drafts, thread);
  if (isFirst.current && wanted.current !== undefined) isAtEnd.current = false;
  isFirst.current = false;
  const from = useRef(before.from);
  from.current = before.from;
  useLayoutEffect(() => {
    const place = list.current;
    const { entry, top } = wanted.current ?? {};
    if (place === null || entry === undefined || top === undefined) return;
    if (entry < before.from && paging !== 'failed' && before.entries.length < mostBefore) {
      void acts.loadEarlier(entry);
      return;
    }
    wanted.current = undefined;
    const node = place.querySelectorAll('.entry')[entry - before.from];
    isAtEnd.current = node === undefined;
    if (node === undefined) place.scrollTop = place.scrollHeight;
    else
      settle(settlingFrames, () => {
        // What is not drawn yet is thought to be short: the end may seem near.
        isAtEnd.current = false;
        if (node.isConnected) scrollTo(place, node, top);
      });
  }, [before.from, paging]);
  useLayoutEffect(() => {
    const place = list.current;
    const keep = (): void => {
      if (place === null || wanted.current !== undefined) return;
      const { node, top = 0 } = (!isAtEnd.current && firstSeen(place)) || {};
      const at = node === undefined ? -1 : [...place.querySelectorAll('.entry')].indexOf(node);
      keepPlace(drafts, thread, at < 0 ? undefined : { entry: from.current + at, top });
    };
    addEventListener('pagehide', keep);
    return () => {
      keep();
      removeEventListener('pagehide', keep);
    };
  }, [thread]);
}

function settle(frames: number, stand: () => void): void {
  stand();
  if (frames > 0) requestAnimationFrame(() => settle(frames - 1, stand));
}

/** The first entry that is seen of a list, and how far below the upper edge of the list it begins, px. */
function firstSeen(place: HTMLElement | null): { readonly node: Element; readonly top: number } | undefined {
  if (place === null) return undefined;
  const { top } = place.getBoundingClientRect();
  const isSeen = (node: Element): boolean => node.getBoundingClientRect().bottom > top;
  const group = [...place.querySelectorAll('.group')].find(isSeen);
  const node = [...(group?.querySelectorAll('.entry') ?? [])].find(isSeen);
  return node === undefined ? undefined : { node, top: node.getBoundingClientRect().top - top };
}

/** Moves a list so that an entry begins so far below its upper edge. */
function scrollTo(place: HTMLElement, node: Element, top: number): void {
  place.scrollTop += node.getBoundingClientRect().top - place.getBoundingClientRect().top - top;
}

const who: Readonly<Record<Entry['kind'], string>> = {
  user_message: 'You',
  assistant_message: 'Model',
  tool_call: 'Tool',
  plan_summary: 'Plan',
  diff: 'Diff',
  info_note: 'Note',
};

/** One entry of the transcript, memoized. */
function EntryView({ entry }: { readonly entry: Entry }): VNode {
  return useMemo(() => {
    const { kind, title, content = '', status, task, streaming, createdAt } = entry;
    const isLine = kind === 'tool_call';
    const isNote = kind === 'info_note';
    const note = isNote && noteBody(entry);
    const isShort = isLine || (isNote && note === false);
    return h(
      'article',
      {
        class: `entry entry-${kind}${isShort ? ' entry-line' : ''}${streaming ? ' streaming' : ''}`,
        'aria-busy': streaming,
      },
      h(
        'p.head',
        ...(isLine
          ? toolLine({ toolName: title ?? who[kind], told: content, status: status ?? '', task })
          : isNote
            ? noteHead(entry)
            : [
                h('span.by', who[kind]),
                task !== undefined && h('span.task', text(task)),
                title !== undefined && h('span.title', text(title)),
                status !== undefined && h(`span.tag.tag-${status}`, status),
              ]),
        h('time', { dateTime: createdAt }, timeWords(createdAt)),
      ),
      note,
      !isLine &&
        !isNote &&
        (kind === 'user_message'
          ? [
              h('p.said', text(content)),
              attachmentMarks(entry).map((mark, at) => h('p.soft', { key: at }, oneLine(mark))),
            ]
          : kind === 'diff'
            ? h(DiffEntry, { content })
            : h(Prose, { source: content, isOpen: streaming })),
    );
  }, [entry]);
}

const atOnce = 40;

const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'hunk' };

function DiffEntry({ content }: { readonly content: string }): VNode {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return h(
    'details.told-diff',
    { open: lines.length <= atOnce },
    h('summary', lines.length === 1 ? '1 line' : `${lines.length} lines`),
    h(
      'pre',
      { tabIndex: 0, 'aria-label': 'What was changed' },
      lines.map((line, at) =>
        h('span', { key: at, class: `line line-${kindOf(line)}` }, oneLine(line), '\n'),
      ),
    ),
  );
}

function kindOf(line: string): string {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'hunk';
  return kinds[line[0] ?? ''] ?? 'same';
}

function noteHead(entry: Entry): readonly (VNode | false)[] {
  const gate = readGate(entry);
  if (gate !== undefined)
    return [
      h('span.by', text(`Gate ${gate.stage}`)),
      h(`span.tag.tag-${gate.status}`, text(gate.status)),
      h('span.soft', text(gate.words)),
    ];
  const outcome = readOutcome(entry);
  const { title = 'Note' } = outcome ?? entry;
  const tone = outcome === undefined ? toneOf(title) : toneOfOutcome(outcome);
  return [h('span', { class: `by ${tone}` }, text(title))];
}

function noteBody(entry: Entry): VNode | false {
  const gate = readGate(entry);
  if (gate !== undefined) return gate.failed.length > 0 && h(FailedList, { failed: gate.failed });
  const outcome = readOutcome(entry);
  if (outcome === undefined) return h(Prose, { source: entry.content ?? '', isOpen: entry.streaming });
  return h(
    'div.told-outcome',
    h('p', sentence(outcome.words)),
    outcome.commit !== undefined && h('p', 'commit ', h('code', text(outcome.commit))),
    commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
  );
}

const badTitles: readonly string[] = ['Failed', 'Not verified', 'No sandbox'];

function toneOf(title: string): string {
  if (title === 'Verified') return 'good';
  return badTitles.includes(title) ? 'bad' : '';
}

function toneOfOutcome({ isCommit, isRefused }: Outcome): string {
  if (isCommit) return 'good';
  return isRefused ? 'bad' : '';
}
