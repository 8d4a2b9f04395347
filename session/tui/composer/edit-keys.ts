/* The keys that edit text. */
import { type Line, span } from '../../screen/line.ts';
import type { Key } from '../term/painter.ts';
import {
  type Buffer,
  borderAfter,
  borderAtOrAfter,
  borderAtOrBefore,
  borderBefore,
  deleteAfter,
  deleteBefore,
  insert,
  kill,
  lineEnd,
  lineStart,
  moved,
  plainText,
  redo,
  undo,
  unfold,
  yank,
} from './buffer.ts';

/** A word, and what is between words, ends here at the latest: no key looks through megabytes. In UTF-16 units. */
const longest = 65_536;

type WordKind = 'letters' | 'solid';

function wordBefore(text: string, at: number, kind: WordKind): number {
  const least = Math.max(0, at - longest);
  let to = at;
  while (to > least && !isOf(text, to - 1, kind)) to -= 1;
  while (to > least && isOf(text, to - 1, kind)) to -= 1;
  return borderAtOrBefore(text, to);
}

function wordAfter(text: string, at: number, kind: WordKind): number {
  const most = Math.min(text.length, at + longest);
  let to = at;
  while (to < most && !isOf(text, to, kind)) to += 1;
  while (to < most && isOf(text, to, kind)) to += 1;
  return borderAtOrAfter(text, to);
}

function isOf(text: string, at: number, kind: WordKind): boolean {
  const unit = text.charCodeAt(at);
  if (kind === 'solid') return unit > 0x20 && (unit < 0x80 || !/\s/.test(text.charAt(at)));
  if (unit < 0x80)
    return (
      (unit >= 0x61 && unit <= 0x7a) ||
      (unit >= 0x41 && unit <= 0x5a) ||
      (unit >= 0x30 && unit <= 0x39) ||
      unit === 0x5f
    );
  // Halves of pairs and folded pastes count as letters: a move stops on neither.
  return (unit >= 0xd800 && unit <= 0xdfff) || /[\p{L}\p{N}\p{M}]/u.test(text.charAt(at));
}

type Act = (buffer: Buffer) => Buffer;

const left: Act = (buffer) => moved(buffer, borderBefore(buffer.text, buffer.cursor));
const right: Act = (buffer) => moved(buffer, borderAfter(buffer.text, buffer.cursor));
const wordLeft: Act = (buffer) => moved(buffer, wordBefore(buffer.text, buffer.cursor, 'letters'));
const wordRight: Act = (buffer) => moved(buffer, wordAfter(buffer.text, buffer.cursor, 'letters'));
const home: Act = (buffer) => moved(buffer, lineStart(buffer));
const end: Act = (buffer) => moved(buffer, lineEnd(buffer));
const start: Act = (buffer) => moved(buffer, 0);
const last: Act = (buffer) => moved(buffer, buffer.text.length);
const newLine: Act = (buffer) => insert(buffer, '\n');
const killWordBefore: Act = (buffer) => kill(buffer, wordBefore(buffer.text, buffer.cursor, 'letters'));
const killWordAfter: Act = (buffer) => kill(buffer, wordAfter(buffer.text, buffer.cursor, 'letters'));
const killSolid: Act = (buffer) => kill(buffer, wordBefore(buffer.text, buffer.cursor, 'solid'));

/** At the end of a line its line end is what is killed, and at its start the one before. */
const killLineAfter: Act = (buffer) => {
  const to = lineEnd(buffer);
  return kill(buffer, to === buffer.cursor ? Math.min(to + 1, buffer.text.length) : to);
};
const killLineBefore: Act = (buffer) => {
  const to = lineStart(buffer);
  return kill(buffer, to === buffer.cursor ? Math.max(to - 1, 0) : to);
};

/** The keys that change a text or move in its lines, as in every shell. Moves over rows need a width: `moveRow`. */
export const editKeys: ReadonlyMap<string, Act> = new Map(
  Object.entries<Act>({
    left,
    'ctrl+b': left,
    right,
    'ctrl+f': right,
    'alt+b': wordLeft,
    'alt+left': wordLeft,
    'ctrl+left': wordLeft,
    'alt+f': wordRight,
    'alt+right': wordRight,
    'ctrl+right': wordRight,
    home,
    'ctrl+a': home,
    end,
    'ctrl+e': end,
    'ctrl+home': start,
    'alt+<': start,
    'ctrl+end': last,
    'alt+>': last,
    'alt+enter': newLine,
    'shift+enter': newLine,
    'ctrl+enter': newLine,
    'ctrl+j': newLine,
    backspace: deleteBefore,
    'shift+backspace': deleteBefore,
    'ctrl+h': deleteBefore,
    delete: deleteAfter,
    'ctrl+d': deleteAfter,
    'ctrl+w': killSolid,
    'alt+backspace': killWordBefore,
    'ctrl+backspace': killWordBefore,
    'alt+d': killWordAfter,
    'ctrl+delete': killWordAfter,
    'ctrl+u': killLineBefore,
    'ctrl+k': killLineAfter,
    'ctrl+y': yank,
    'ctrl+_': undo,
    'ctrl+-': undo,
    'ctrl+/': undo,
    'alt+_': redo,
    'alt+-': redo,
    'ctrl+o': unfold,
  }),
);

/**
 * Name of a key: `ctrl+c`, `alt+enter`, `shift+tab`, `left`. `undefined` for text. Letters are lower case, without
 * `shift`.
 */
export function chordOf(key: Key): string | undefined {
  if (key.type !== 'key') return undefined;
  const isChar = key.name.startsWith('char:');
  const name = isChar ? key.name.slice('char:'.length).toLowerCase() : key.name;
  const with_ = [
    ...(key.ctrl ? ['ctrl'] : []),
    ...(key.alt ? ['alt'] : []),
    ...(key.shift && !isChar ? ['shift'] : []),
  ];
  return [...with_, name].join('+');
}

/* A line for a secret answer, which is never shown or stored. */

/** Bounds for a secret: its characters, and the marks drawn for it, so that the screen does not reveal its length. */
const most = { characters: 64 * 1024, marks: 8 };

export type SecretEffect = { readonly type: 'answer'; readonly text: string } | { readonly type: 'leave' };

/**
 * A secret that is being typed. It is in no property, so that printing or serialising the object does not reveal it.
 */
export interface SecretLine {
  press(key: Key): { readonly line: SecretLine; readonly effects: readonly SecretEffect[] };
  readonly isEmpty: boolean;
  draw(): Line;
}

/** No history, no yank, no undo: what is deleted or left is gone. */
export function openSecretLine(): SecretLine {
  return lineOf('');
}

function lineOf(typed: string): SecretLine {
  const only = (line: SecretLine) => ({ line, effects: [] });
  const same: SecretLine = {
    isEmpty: typed === '',
    draw: () => [
      typed === '' ? span('nothing typed', 'dim') : span('•'.repeat(Math.min(most.marks, typed.length))),
    ],
    press(key) {
      if (key.type !== 'key') {
        // A paste mostly ends with a line end that is not meant.
        const text = plainText(key.text);
        const more = typed + (key.type === 'paste' ? text.replace(/\n+$/, '') : text);
        return only(more.length > most.characters ? same : lineOf(more));
      }
      switch (chordOf(key)) {
        case 'enter':
          return typed === '' ? only(same) : { line: lineOf(''), effects: [{ type: 'answer', text: typed }] };
        case 'escape':
        case 'ctrl+c':
        case 'ctrl+d':
          return { line: lineOf(''), effects: [{ type: 'leave' }] };
        case 'backspace':
        case 'ctrl+h':
          return only(lineOf(typed.slice(0, borderBefore(typed, typed.length))));
        case 'ctrl+u':
        case 'ctrl+w':
          return only(lineOf(''));
        default:
          return only(same);
      }
    },
  };
  return same;
}
