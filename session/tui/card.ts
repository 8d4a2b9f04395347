/* How a person answers a question by keys, and how it is drawn in the live region. */
import {
  type Asked,
  type AskedQuestion,
  type Choice,
  choicesOf,
  firstChoiceOf,
  type GivenAnswer,
  isApproval,
  patchsetOf,
  planLines,
  questionsOf,
  shownFirst,
} from '../screen/asked.ts';
import { hunksOf } from '../screen/hunks.ts';
import { type Line, type Span, span, visible } from '../screen/line.ts';
import { commandTree } from '../screen/question-body.ts';
import { hangLine, widthOf } from '../screen/wrap.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Key } from './term/painter.ts';

/** How far a person is with the answer to one question. */
export interface Card {
  readonly id: string;
  readonly shownAtMs: number;
  /** `away`: keys go to the composer. */
  readonly focus: 'options' | 'lines' | 'away';
  /** The choice, or the line, that Enter gives. */
  readonly at: number;
  /** Of an approval: all answers are shown, not only the first three. */
  readonly isWide: boolean;
  readonly writing:
    | { readonly for: 'note' }
    | { readonly for: 'line'; readonly line: string }
    | { readonly for: 'answer'; readonly question: string; readonly isSecret: boolean }
    | undefined;
  readonly notes: Readonly<Record<string, string>>;
  readonly question: number;
  readonly answers: Readonly<Record<string, readonly string[]>>;
}

/** Milliseconds in which a new question ignores keys: a person who is typing must not approve it by accident. */
export const deafForMs = 350;

/** Opens the card of a new question. If a text is being written, the focus stays there. */
export function openCard(asked: Asked, nowMs: number, isWriting: boolean): Card {
  return {
    id: asked.id,
    shownAtMs: nowMs,
    focus: isWriting ? 'away' : 'options',
    at: firstChoiceOf(asked, answersOf(asked, false)),
    isWide: false,
    writing: undefined,
    notes: {},
    question: 0,
    answers: {},
  };
}

/** Not an answer: it shows the others. */
const more: Choice = { id: 'more', label: 'Other answers', letter: 'o', about: '' };

/** The answers on the card: of an approval the first three and `more`, until they are all shown. */
function answersOf(asked: Asked, isWide: boolean, inner?: AskedQuestion): readonly Choice[] {
  const all = choicesOf(asked, inner);
  const isSecond = isApproval(asked) && asked.metadata.needsConfirmation !== undefined;
  const first = isWide || isSecond || inner !== undefined ? undefined : shownFirst(asked);
  if (first === undefined) return all;
  return [...first.flatMap((id) => all.filter((one) => one.id === id)), more];
}

export interface Pressed {
  readonly card: Card;
  readonly given?: GivenAnswer;
  /** The whole document has to be shown. */
  readonly shows?: true;
  /** The key belongs to the composer. */
  readonly isElse?: true;
}

/** Handles a key while the options or lines of a card have the focus. Pure. */
export function pressCard(card: Card, asked: Asked, key: Key, nowMs: number): Pressed {
  if (nowMs - card.shownAtMs < deafForMs)
    return { card, ...(isTyping(key) ? { isElse: true as const } : {}) };
  if (key.type === 'key' && key.name === 'tab' && !key.ctrl && !key.alt && !key.shift)
    return { card: { ...card, focus: 'away' } };
  return card.focus === 'lines' ? pressLine(card, asked, key) : pressOption(card, asked, key);
}

function isTyping(key: Key): boolean {
  return key.type !== 'key';
}

export function isContract({ kind }: Pick<Asked, 'kind'>): boolean {
  return kind === 'intent_review_choice';
}

function pressOption(card: Card, asked: Asked, key: Key): Pressed {
  const inner = questionsOf(asked)[card.question];
  const choices = answersOf(asked, card.isWide, inner);
  if (key.type === 'text') {
    const chosen = choiceOf(choices, key.text);
    if (chosen !== undefined) return choose(card, asked, chosen, inner);
    // An answer that is not seen is not given: its key shows it first.
    const hidden = choicesOf(asked, inner).find(({ letter }) => letter === key.text);
    if (hidden !== undefined) return { card: widen(card, asked, hidden.id) };
    if (key.text === 'l' && planLines(asked).length > 0) return { card: { ...card, focus: 'lines', at: 0 } };
    if (key.text === 'v' && isContract(asked)) return { card, shows: true };
    return { card, isElse: true };
  }
  if (key.type === 'paste' || key.ctrl || key.alt) return { card, isElse: true };
  switch (key.name) {
    case 'up':
    case 'left':
      return { card: { ...card, at: Math.max(0, card.at - 1) } };
    case 'down':
    case 'right':
      return { card: { ...card, at: Math.min(choices.length - 1, card.at + 1) } };
    case 'enter': {
      const chosen = choices[card.at];
      return chosen === undefined ? { card } : choose(card, asked, chosen, inner);
    }
    default:
      return { card, isElse: true };
  }
}

function widen(card: Card, asked: Asked, id: string): Card {
  const at = choicesOf(asked).findIndex((one) => one.id === id);
  return { ...card, isWide: true, at: Math.max(0, at) };
}

function choiceOf(choices: readonly Choice[], typed: string): Choice | undefined {
  const byNumber = /^[1-9]$/.test(typed) ? choices[Number(typed) - 1] : undefined;
  return byNumber ?? choices.find(({ letter }) => letter === typed);
}

function choose(card: Card, asked: Asked, { id }: Choice, inner: AskedQuestion | undefined): Pressed {
  if (inner !== undefined) return answerInner(card, asked, inner, id);
  if (id === more.id) return { card: widen(card, asked, firstBehind(asked)) };
  if (id === 'modify' && Object.keys(card.notes).length === 0)
    return { card: { ...card, writing: { for: 'note' } } };
  const notes = id === 'execute' || id === 'modify' ? notesOf(card) : undefined;
  return { card, given: { selectedOption: id, ...(notes === undefined ? {} : { answers: notes }) } };
}

/** The first answer that was behind `more`. */
function firstBehind(asked: Asked): string {
  const first = shownFirst(asked) ?? [];
  return asked.options.find(({ id }) => !first.includes(id))?.id ?? '';
}

function notesOf({ notes }: Card): GivenAnswer['answers'] | undefined {
  const all = Object.entries(notes).map(([line, note]) => [line, [note]] as const);
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

function answerInner(card: Card, asked: Asked, { id }: AskedQuestion, answer: string): Pressed {
  const answers = { ...card.answers, [id]: [answer] };
  const questions = questionsOf(asked);
  const question = card.question + 1;
  if (question < questions.length) return { card: askInner({ ...card, answers, question, at: 0 }, asked) };
  return {
    card: { ...card, answers: {}, question: 0, writing: undefined },
    given: { selectedOption: 'answer', answers },
  };
}

export function askInner(card: Card, asked: Asked): Card {
  const inner = questionsOf(asked)[card.question];
  if (inner === undefined || inner.kind === 'single') return { ...card, writing: undefined };
  return { ...card, writing: { for: 'answer', question: inner.id, isSecret: inner.secret === true } };
}

function pressLine(card: Card, asked: Asked, key: Key): Pressed {
  const lines = planLines(asked);
  const isPlain = key.type === 'key' && !key.ctrl && !key.alt;
  if (key.type === 'text' && /^[jk]$/.test(key.text))
    return { card: moved(card, key.text === 'j' ? 1 : -1, lines) };
  if (!isPlain) return { card };
  switch (key.name) {
    case 'up':
      return { card: moved(card, -1, lines) };
    case 'down':
      return { card: moved(card, 1, lines) };
    case 'escape':
    case 'left':
      return { card: { ...card, focus: 'options', at: 0 } };
    case 'backspace':
    case 'delete': {
      const { [lines[card.at] ?? '']: _, ...notes } = card.notes;
      return { card: { ...card, notes } };
    }
    case 'enter': {
      const line = lines[card.at];
      return line === undefined ? { card } : { card: { ...card, writing: { for: 'line', line } } };
    }
    default:
      return { card };
  }
}

function moved(card: Card, by: number, lines: readonly string[]): Card {
  return { ...card, at: Math.max(0, Math.min(lines.length - 1, card.at + by)) };
}

export function writeCard(card: Card, asked: Asked, text: string): Pressed {
  const { writing } = card;
  const words = text.trim();
  if (writing === undefined) return { card };
  if (writing.for === 'answer') {
    const inner = questionsOf(asked)[card.question];
    return inner === undefined || text === '' ? { card } : answerInner(card, asked, inner, text);
  }
  const chosen = { ...card, writing: undefined };
  if (words === '') return { card: chosen };
  if (writing.for === 'note') return { card: chosen, given: { selectedOption: 'modify', note: words } };
  const note = words.replace(/\s+/g, ' ').slice(0, maxNoteCharacters);
  return { card: { ...chosen, notes: { ...card.notes, [writing.line]: note } } };
}

/** The session's limit. */
const maxNoteCharacters = 2000;

/** Rows for the scope of an answer that does not fit its own row. */
const mostCovered = 3;

/** Draws the part of a question in the live region: its prompt, the answers, how to give one. At most `rows` lines. */
export function drawCard(
  card: Card,
  asked: Asked,
  snapshot: Pick<Snapshot, 'plans' | 'patchsets' | 'reviews'>,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): readonly Line[] {
  const inner = questionsOf(asked);
  const choices = answersOf(asked, card.isWide, inner[card.question]);
  const isChosen = card.focus === 'options' && card.writing === undefined;
  const lines =
    card.focus === 'lines'
      ? drawLines(card, asked, snapshot.plans)
      : // Whoever writes a note has chosen already.
        card.writing?.for === 'note'
        ? []
        : choices.map((choice, at) => drawChoice(choice, at, isChosen && at === card.at));
  if (card.focus !== 'lines' && card.writing === undefined && isCompact(choices, rows)) {
    const head = [...headOf(card, asked, inner), ...rejectedOf(asked, snapshot)];
    const shown = compactChoices(choices, isChosen ? card.at : -1, columns);
    const hint: readonly Line[] = isChosen && isApproval(asked) ? [] : [[span(hintOf(card, asked), 'dim')]];
    const subject = compactSubject(asked, Math.max(1, rows - shown.length - hint.length - 1), columns);
    return [head, ...subject, ...shown, ...hint];
  }
  const most = Math.max(1, rows - 2);
  const before = drawAnswers(card, inner).slice(0, Math.max(0, most - lines.length));
  const room = most - lines.length - before.length;
  const covered = isChosen ? coveredBy(choices[card.at], lines[card.at], columns) : [];
  return [
    ...before,
    [...headOf(card, asked, inner), ...rejectedOf(asked, snapshot), ...subjectBeside(asked)],
    ...around(lines, card.at, most),
    ...(covered.length <= room ? covered : []),
    [span(hintOf(card, asked), 'dim')],
  ];
}

function headOf(
  { question }: Card,
  { prompt = '', title = '' }: Asked,
  inner: readonly AskedQuestion[],
): Line {
  const words = inner[question]?.prompt ?? (prompt === '' ? title : prompt);
  return [
    span('? ', 'accent'),
    span(visible(words), 'strong'),
    ...(inner.length > 1 ? [span(`  ${question + 1} of ${inner.length}`, 'dim')] : []),
  ];
}

function rejectedOf(asked: Asked, { patchsets, reviews }: Pick<Snapshot, 'patchsets' | 'reviews'>): Line {
  const patchset = patchsets.find(({ id }) => id === patchsetOf(asked));
  if (patchset === undefined) return [];
  const hunks = hunksOf(patchset, reviews);
  const rejected = hunks.filter(({ verdict }) => verdict === 'reject').length;
  return [span(`  ${rejected}/${hunks.length} rejected`, rejected === 0 ? 'dim' : 'warn')];
}

function drawAnswers({ answers, question }: Card, inner: readonly AskedQuestion[]): readonly Line[] {
  return inner.slice(0, question).map(({ id, prompt, options = [], secret }): Line => {
    const [given = ''] = answers[id] ?? [];
    const shown = options.find((option) => option.id === given)?.label ?? given;
    return [
      span('✓ ', 'good'),
      span(visible(prompt), 'dim'),
      span(`  ${secret ? 'answered' : visible(shown)}`),
    ];
  });
}

function coveredBy(choice: Choice | undefined, line: Line | undefined, columns: number): readonly Line[] {
  if (choice === undefined || line === undefined || widthOf(line) <= columns) return [];
  return hangLine([span(`  covers  ${visible(choice.about)}`, 'dim')], columns).slice(0, mostCovered);
}

function drawChoice({ label, letter, about }: Choice, at: number, isSelected: boolean): Line {
  return [
    span(isSelected ? '› ' : '  ', 'accent'),
    span(`${at + 1}${letter === undefined ? '' : ` ${letter}`}  `, 'dim'),
    span(visible(label), isSelected ? 'selected' : 'plain'),
    ...(about === '' ? [] : [span(`  ${visible(about)}`, 'dim')]),
  ];
}

function drawLines({ at, notes }: Card, asked: Asked, plans: Snapshot['plans']): readonly Line[] {
  const planId = asked.kind === 'post_plan_choice' ? asked.metadata.planId : undefined;
  const plan = plans.find(({ id }) => id === planId);
  return planLines(asked).map((id, index): Line => {
    const words = plan?.steps.find((step) => step.id === id)?.step ?? id;
    const note = notes[id];
    return [
      span(index === at ? '› ' : '  ', 'accent'),
      span(`${index + 1}. ${visible(words)}`, index === at ? 'selected' : 'plain'),
      ...(note === undefined ? [] : [span(`  ✎ ${visible(note)}`, 'warn')]),
    ];
  });
}

function around(lines: readonly Line[], at: number, most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const from = Math.max(0, Math.min(lines.length - most, at - Math.floor(most / 2)));
  const seen = [...lines.slice(from, from + most)];
  const mark = (row: number, sign: string): void => {
    if (from + row !== at) seen[row] = [span(sign, 'accent'), ...(seen[row] ?? []).slice(1)];
  };
  if (from > 0) mark(0, '↑ ');
  if (from + most < lines.length) mark(most - 1, '↓ ');
  return seen;
}

function hintOf({ focus, writing, notes }: Card, asked: Asked): string {
  if (writing?.for === 'answer')
    return writing.isSecret
      ? 'type the answer, Enter gives it · it is never shown and never kept'
      : 'type the answer, Enter gives it';
  if (writing !== undefined) return 'type the note, Enter takes it, Esc goes back';
  if (focus === 'away') return 'Tab answers';
  if (focus === 'lines') return 'Enter writes a note on the line, Delete takes it off, Esc goes back';
  const count = Object.keys(notes).length;
  const shown = count === 0 ? '' : `${count} ${count === 1 ? 'note goes' : 'notes go'} along · `;
  const hunks = patchsetOf(asked) === undefined ? '' : ' · /diff shows it (/reject N WHY, /keep N)';
  return `${shown}number or letter chooses${planLines(asked).length > 0 ? ' · l: notes on lines' : ''}${isContract(asked) ? ' · v: all of it' : ''} · Tab: text${hunks}`;
}

/** Rows of the question that stay visible above its answers. */
const leastSeen = 10;
const mostAbout = 2;

const words: Readonly<Record<string, string>> = {
  approve: 'once',
  approve_scope: 'files',
  approve_session: 'session',
  approve_ttl: 'time',
  approve_directory_ttl: 'dir',
  approve_pattern_ttl: 'like',
  allow_all_commands: 'all',
  deny: 'deny',
  abort: 'stop',
  confirm: 'confirm',
  modify: 'modify',
  cancel: 'cancel',
  execute: 'execute',
  network: 'network',
  more: 'other',
};

/**
 * Whether the answers below each other would push the question off the terminal. Only answers with letters can be
 * drawn side by side.
 */
function isCompact(choices: readonly Choice[], rows: number): boolean {
  return (
    choices.length > 0 &&
    choices.every(({ id }) => Object.hasOwn(words, id)) &&
    rows < choices.length + 2 + leastSeen
  );
}

function compactChoices(choices: readonly Choice[], at: number, columns: number): readonly Line[] {
  const chosen = choices[at];
  const rows: Span[][] = [];
  let room = 0;
  for (const [index, { id, letter = '' }] of choices.entries()) {
    const one = [span(`${letter} `, 'dim'), span(words[id] ?? id, index === at ? 'selected' : 'plain')];
    const row = rows.at(-1);
    const width = widthOf(one) + 2;
    if (row === undefined || width > room) {
      rows.push([span('  '), ...one]);
      room = columns - width;
    } else {
      row.push(span('  '), ...one);
      room -= width;
    }
  }
  if (chosen === undefined) return rows;
  const about = chosen.about === '' ? [] : [span(`  ${visible(chosen.about)}`, 'dim')];
  const shown = hangLine([span('› ', 'accent'), span(visible(chosen.label), 'strong'), ...about], columns);
  return [...rows, ...shown.slice(0, mostAbout)];
}

/** The subject of an approval in at most `rows` rows: the command first, and a line with the number of omitted rows. */
function compactSubject(asked: Asked, rows: number, columns: number): readonly Line[] {
  if (!isApproval(asked)) return [];
  const tree = commandTree(asked.metadata);
  const lines = tree.flatMap((line) => hangLine(line, columns));
  if (lines.length <= rows) return lines;
  if (rows < 2) return tree.slice(0, rows);
  const seen = rows - 1;
  const left = lines.length - seen;
  const more = `… ${left} ${left === 1 ? 'line' : 'lines'} more: scroll back to read`;
  return [...lines.slice(0, seen), [span(more, 'warn')]];
}

function subjectBeside(asked: Asked): Line {
  if (!isApproval(asked)) return [];
  const many = asked.metadata.commandLines?.length ?? 0;
  const [first = []] = commandTree(asked.metadata);
  return [
    ...(many > 1 ? [span(`  first of ${many} lines`, 'warn')] : []),
    span('  '),
    ...first.filter(isWord),
  ];
}

const isWord = ({ text }: Span): boolean => text.trim() !== '';
