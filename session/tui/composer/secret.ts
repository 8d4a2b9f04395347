/* A line for a secret answer, which is never shown or stored. */
import { type Line, span } from '../../screen/line.ts';
import type { Key } from '../term/key.ts';
import { borderBefore, plainText } from './buffer.ts';
import { chordOf } from './edit-keys.ts';

/** Characters of a secret; marks that are drawn, so that a screen says nothing of how long it is. */
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
