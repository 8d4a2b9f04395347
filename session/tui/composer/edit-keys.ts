import { borderAfter, borderBefore } from './borders.ts';
import { type Buffer, moved, redo, undo } from './buffer.ts';
import { deleteAfter, deleteBefore, insert, kill, lineEnd, lineStart, unfold, yank } from './edit.ts';
import { wordAfter, wordBefore } from './words.ts';

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
