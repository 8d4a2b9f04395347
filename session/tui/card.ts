/* How a person answers a question by keys. */
import {
  type Asked,
  type AskedQuestion,
  type Choice,
  choicesOf,
  firstChoiceOf,
  type GivenAnswer,
  planLines,
  questionsOf,
} from '../screen/asked.ts';
import type { Key } from './term/painter.ts';

/** How far a person is with the answer to one question. */
export interface Card {
  readonly id: string;
  readonly shownAtMs: number;
  /** `away`: keys go to the composer. */
  readonly focus: 'options' | 'lines' | 'away';
  /** The choice, or the line, that Enter gives. */
  readonly at: number;
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
    at: firstChoiceOf(asked),
    writing: undefined,
    notes: {},
    question: 0,
    answers: {},
  };
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
  const choices = choicesOf(asked, inner);
  if (key.type === 'text') {
    const chosen = choiceOf(choices, key.text);
    if (chosen !== undefined) return choose(card, asked, chosen, inner);
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

function choiceOf(choices: readonly Choice[], typed: string): Choice | undefined {
  const byNumber = /^[1-9]$/.test(typed) ? choices[Number(typed) - 1] : undefined;
  return byNumber ?? choices.find(({ letter }) => letter === typed);
}

function choose(card: Card, asked: Asked, { id }: Choice, inner: AskedQuestion | undefined): Pressed {
  if (inner !== undefined) return answerInner(card, asked, inner, id);
  if (id === 'modify' && Object.keys(card.notes).length === 0)
    return { card: { ...card, writing: { for: 'note' } } };
  const notes = id === 'execute' || id === 'modify' ? notesOf(card) : undefined;
  return { card, given: { selectedOption: id, ...(notes === undefined ? {} : { answers: notes }) } };
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
