/* Keys of a person's own: the names of actions, the keymap of a configuration, and vim keys. */
import { nearestName, quoted } from '../../../core/base/printable.ts';
import type { Key } from '../term/painter.ts';
import {
  type Buffer,
  borderAfter,
  borderAtOrBefore,
  borderBefore,
  change,
  insert,
  lineEnd,
  lineStart,
  moved,
  undo,
  yank,
} from './buffer.ts';
import { chordOf } from './edit-keys.ts';

/** Actions of the composer, each with the key that always means it; a keymap leads other keys there. */
export const actions: Readonly<Record<string, string>> = {
  send: 'enter',
  'new-line': 'alt+enter',
  complete: 'tab',
  interrupt: 'escape',
  quit: 'ctrl+d',
  editor: 'ctrl+g',
  search: 'ctrl+r',
  redraw: 'ctrl+l',
  reclaim: 'ctrl+t',
  suspend: 'ctrl+z',
  'next-context': 'shift+tab',
  up: 'up',
  down: 'down',
  left: 'left',
  right: 'right',
  'page-up': 'page-up',
  'page-down': 'page-down',
  'word-left': 'alt+b',
  'word-right': 'alt+f',
  'line-start': 'home',
  'line-end': 'end',
  'text-start': 'ctrl+home',
  'text-end': 'ctrl+end',
  'delete-before': 'backspace',
  'delete-after': 'delete',
  'delete-word-before': 'alt+backspace',
  'delete-word-after': 'alt+d',
  'delete-line-before': 'ctrl+u',
  'delete-line-after': 'ctrl+k',
  yank: 'ctrl+y',
  undo: 'ctrl+_',
  redo: 'alt+-',
  unfold: 'ctrl+o',
};

export interface OwnKeys {
  readonly isVim: boolean;
  /** A key, as `chordOf` names it, to the key of its action. */
  readonly map: ReadonlyMap<string, string>;
}

export const usualKeys: OwnKeys = { isVim: false, map: new Map() };

/** The keys of a person's own with the names of their actions. */
export function ownKeyRows({ isVim, map }: OwnKeys): readonly (readonly [key: string, about: string])[] {
  const nameOf = new Map(Object.entries(actions).map(([name, chord]) => [chord, name]));
  return [
    ...(isVim ? [['Esc', 'vim: the normal mode, where letters are commands'] as const] : []),
    ...[...map].map(([key, chord]) => [key, `yours: ${nameOf.get(chord) ?? chord}`] as const),
  ];
}

const keyNames: readonly string[] =
  'enter tab escape backspace delete home end up down left right page-up page-down'.split(' ');
/** What a terminal sends for these is another key. */
const twins: Readonly<Record<string, string>> = { 'ctrl+i': 'tab', 'ctrl+m': 'enter', 'ctrl+[': 'escape' };

/** Reads the keys of each action. `refuse` hears what is wrong with an action. */
export function readKeymap(
  wanted: Readonly<Record<string, readonly string[]>>,
  refuse: (action: string, why: string) => void,
): OwnKeys['map'] {
  const map = new Map<string, string>();
  const by = new Map<string, string>();
  for (const [action, keys] of Object.entries(wanted)) {
    const chord = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (chord === undefined) {
      refuse(action, `unknown action${meant(action, Object.keys(actions))}`);
      continue;
    }
    for (const typed of keys) {
      const key = chordNamed(typed);
      const other = key.chord === undefined ? undefined : by.get(key.chord);
      if (key.chord === undefined) refuse(action, `${quoted(typed)}: ${key.why}`);
      else if (other !== undefined) refuse(action, `\`${key.chord}\` is already the key of \`${other}\``);
      else {
        map.set(key.chord, chord);
        by.set(key.chord, action);
      }
    }
  }
  return map;
}

function chordNamed(
  typed: string,
): { readonly chord: string } | { readonly chord?: never; readonly why: string } {
  const [, modifiers = '', name = ''] = /^((?:(?:ctrl|alt|shift)\+)*)(.+)$/i.exec(typed) ?? [];
  const isChar = /^[!-~]$/.test(name);
  const key = name.toLowerCase();
  if (!isChar && !keyNames.includes(key)) return { why: `unknown key${meant(key, keyNames)}` };
  const held = ['ctrl', 'alt', 'shift'].filter((one) => modifiers.toLowerCase().includes(one));
  const chord = [...held, key].join('+');
  if (chord === 'ctrl+c') return { why: 'this key always clears, interrupts and quits' };
  if (isChar && !/ctrl|alt/.test(chord)) return { why: 'it types a character; add `ctrl+` or `alt+`' };
  if (isChar && held.includes('shift')) return { why: 'a terminal does not report `shift` with a character' };
  const twin = twins[chord];
  return twin === undefined ? { chord } : { why: `a terminal sends \`${twin}\` for it` };
}

function meant(typed: string, known: readonly string[]): string {
  const near = nearestName(typed, known);
  return near === undefined ? `; known are ${known.join(', ')}` : `; did you mean \`${near}\`?`;
}

/* Vim: the normal mode of the composer. A subset, listed in docs/reference/terminal.md. */

/** The part of a composer that vim changes. */
interface Typed {
  readonly buffer: Buffer;
  readonly normal?: string | undefined;
  readonly completion: object | undefined;
  readonly closed: number | undefined;
}

/** What became of a key: `undefined` if vim leaves it alone; with `chord` that key is pressed instead. */
type VimOutcome<C> = { readonly composer: C; readonly chord?: string } | undefined;

const mostCount = 999;
/** No command has more characters. */
const mostPending = 8;
/** No motion looks through megabytes. In UTF-16 units. */
const longest = 65_536;

/** Handles a key in vim's modes. `composer.normal` holds the keys of a command that is not complete. */
export function vimKey<C extends Typed>(composer: C, key: Key): VimOutcome<C> {
  const { normal, buffer } = composer;
  const chord = chordOf(key);
  if (normal === undefined) {
    if (chord !== 'escape' || composer.completion !== undefined) return undefined;
    const at = Math.max(lineStart(buffer), borderBefore(buffer.text, buffer.cursor));
    return { composer: { ...composer, normal: '', buffer: moved(buffer, at) } };
  }
  if (chord === 'escape') return normal === '' ? undefined : { composer: { ...composer, normal: '' } };
  if (chord === 'backspace') return { composer, chord: 'left' };
  if (key.type !== 'text') return undefined;
  let next = composer;
  for (const [at, char] of [...key.text].entries()) {
    if (next.normal === undefined)
      return { composer: { ...next, buffer: insert(next.buffer, [...key.text].slice(at).join('')) } };
    if (next.normal === '' && (char === 'j' || char === 'k'))
      return { composer: next, chord: char === 'j' ? 'down' : 'up' };
    next = step(next, next.normal + char);
  }
  return { composer: next };
}

type Motion = (buffer: Buffer) => number;

const motions: Readonly<Record<string, Motion>> = {
  h: (buffer) => Math.max(lineStart(buffer), borderBefore(buffer.text, buffer.cursor)),
  l: (buffer) => Math.min(lineEnd(buffer), borderAfter(buffer.text, buffer.cursor)),
  0: lineStart,
  $: lineEnd,
  w: ({ text, cursor }) => skip(text, skip(text, cursor, kindAt(text, cursor)), 'blank'),
  e: ({ text, cursor }) => {
    const from = skip(text, borderAfter(text, cursor), 'blank');
    return borderBefore(text, skip(text, from, kindAt(text, from)));
  },
  b({ text, cursor }) {
    let at = cursor;
    while (at > 0 && cursor - at < longest && kindAt(text, at - 1) === 'blank') at -= 1;
    const kind = kindAt(text, at - 1);
    while (at > 0 && cursor - at < longest && kindAt(text, at - 1) === kind) at -= 1;
    return at;
  },
};

type Kind = 'blank' | 'word' | 'sign' | 'none';

/** Halves of pairs and folded pastes count as words. */
function kindAt(text: string, at: number): Kind {
  if (at < 0 || at >= text.length) return 'none';
  const char = text.charAt(at);
  if (/\s/.test(char)) return 'blank';
  return /[\p{L}\p{N}\p{M}_\ud800-\udfff]/u.test(char) ? 'word' : 'sign';
}

function skip(text: string, from: number, kind: Kind): number {
  let at = from;
  while (kind !== 'none' && at - from < longest && kindAt(text, at) === kind) at += 1;
  return at;
}

function repeated(buffer: Buffer, motion: Motion, count: number): number {
  let now = buffer;
  for (let left = count; left > 0; left -= 1) {
    const at = borderAtOrBefore(now.text, motion(now));
    if (at === now.cursor) break;
    now = moved(now, at);
  }
  return now.cursor;
}

/** One more character of a command: it is done, or waits for the next. What is no command is dropped. */
function step<C extends Typed>(composer: C, typed: string): C {
  const [, first = '', operator = '', second = '', command = ''] =
    /^([1-9][0-9]*)?([dcy])?([1-9][0-9]*)?(.*)$/su.exec(typed) ?? [];
  if (command === '' && typed.length <= mostPending) return { ...composer, normal: typed };
  const count = Math.min(mostCount, Number(first || 1) * Number(second || 1));
  const done =
    operator === '' ? plainCommand(composer, command, count) : operate(composer, operator, command, count);
  const normal = done.isInsert ? undefined : '';
  return onCharacter({ ...composer, completion: undefined, closed: undefined, normal, buffer: done.buffer });
}

interface Done {
  readonly buffer: Buffer;
  readonly isInsert?: boolean;
}

/** In the normal mode the cursor is on a character, not behind the last of a line. */
export function onCharacter<C extends Typed>(composer: C): C {
  const { buffer, normal } = composer;
  const isBehind = buffer.cursor === lineEnd(buffer) && buffer.cursor > lineStart(buffer);
  if (normal === undefined || !isBehind) return composer;
  return { ...composer, buffer: { ...buffer, cursor: borderBefore(buffer.text, buffer.cursor) } };
}

function plainCommand({ buffer }: Typed, command: string, count: number): Done {
  const { text, cursor } = buffer;
  const motion = Object.hasOwn(motions, command) ? motions[command] : undefined;
  if (motion !== undefined) return { buffer: moved(buffer, repeated(buffer, motion, count)) };
  const [start, end] = [lineStart(buffer), lineEnd(buffer)];
  const inserting = (at: number): Done => ({ buffer: moved(buffer, at), isInsert: true });
  switch (command) {
    case 'x':
      return { buffer: cut(buffer, cursor, repeated(buffer, motions.l ?? lineEnd, count)) };
    case 'D':
      return { buffer: cut(buffer, cursor, end) };
    case 'C':
      return { buffer: cut(buffer, cursor, end), isInsert: true };
    case 'i':
      return inserting(cursor);
    case 'a':
      return inserting(Math.min(end, borderAfter(text, cursor)));
    case 'I':
      return inserting(Math.min(end, skip(text, start, 'blank')));
    case 'A':
      return inserting(end);
    case 'o':
      return { buffer: change(buffer, end, end, '\n', 'edited'), isInsert: true };
    case 'O':
      return { buffer: moved(change(buffer, start, start, '\n', 'edited'), start), isInsert: true };
    case 'u': {
      let next = buffer;
      for (let left = count; left > 0 && next.done.length > 0; left -= 1) next = undo(next);
      return { buffer: next };
    }
    case 'p':
      return { buffer: put(buffer) };
    default:
      return { buffer };
  }
}

function operate({ buffer }: Typed, operator: string, command: string, count: number): Done {
  const { text, cursor } = buffer;
  const isLines = command === operator;
  const motion = Object.hasOwn(motions, command) ? motions[command] : undefined;
  if (!isLines && motion === undefined) return { buffer };
  const isInsert = operator === 'c';
  let [from, to] = [lineStart(buffer), lineEnd(buffer)];
  if (isLines) {
    for (let left = count; left > 1 && to < text.length; left -= 1) to = lineEnd(moved(buffer, to + 1));
    const killed = `${text.slice(from, to)}\n`;
    if (operator === 'y') return { buffer: { ...moved(buffer, cursor), killed } };
    // The line end before the last line goes with it.
    const [start, end] = isInsert
      ? [from, to]
      : to < text.length
        ? [from, to + 1]
        : [Math.max(0, from - 1), to];
    const rest = change(buffer, start, end, '', 'edited');
    return { buffer: { ...moved(rest, lineStart(rest)), killed }, isInsert };
  }
  const isWord = command === 'w';
  // `cw` leaves the blanks behind the word.
  const wordEnd: Motion = (now) => skip(now.text, now.cursor, kindAt(now.text, now.cursor));
  const used = isInsert && isWord && count === 1 && kindAt(text, cursor) !== 'blank' ? wordEnd : motion;
  const target = repeated(buffer, used ?? lineEnd, count);
  const end = lineEnd(buffer);
  [from, to] =
    target < cursor ? [target, cursor] : [cursor, command === 'e' ? borderAfter(text, target) : target];
  if (isWord && to > end && cursor < end) to = end;
  if (operator === 'y') return { buffer: { ...moved(buffer, from), killed: text.slice(from, to) } };
  return { buffer: cut(buffer, from, to), isInsert };
}

function cut(buffer: Buffer, from: number, to: number): Buffer {
  const killed = buffer.text.slice(from, to);
  return killed === '' ? buffer : { ...change(buffer, from, to, '', 'edited'), killed };
}

/** Inserts what was cut or copied: lines below, other text behind the cursor. */
function put(buffer: Buffer): Buffer {
  const { killed, text, cursor } = buffer;
  const end = lineEnd(buffer);
  if (!killed.endsWith('\n')) {
    const put = yank(moved(buffer, Math.min(end, borderAfter(text, cursor))));
    return moved(put, borderBefore(put.text, put.cursor));
  }
  const lines = yank({ ...moved(buffer, end), killed: `\n${killed.slice(0, -1)}` });
  return { ...moved(lines, Math.min(lines.text.length, end + 1)), killed };
}
