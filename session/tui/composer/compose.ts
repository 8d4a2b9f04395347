import type { Key } from '../term/key.ts';
import { type Buffer, bufferLimits, change, load } from './buffer.ts';
import { chordOf } from './chord.ts';
import { commandKeys, editOutside } from './command-keys.ts';
import { withOffered } from './completion.ts';
import { completionKey, withCompletion } from './completion-keys.ts';
import { asks, type Composer, type Context, emptyComposer, type Outcome, only } from './composer.ts';
import { insert, paste } from './edit.ts';
import { editKeys } from './edit-keys.ts';
import { isLong, whole } from './folds.ts';
import { asWritten, emptyHistory, withEarlier } from './history.ts';
import { plainText } from './plain-text.ts';
import { searchKey } from './search-keys.ts';

const tooMuch = `too much: a composer holds ${bufferLimits.characters.toLocaleString('en-US')} characters; nothing changed`;

/** A composer with nothing written, whose history is the messages of a transcript, oldest first. */
export function openComposer(earlier: readonly string[]): Composer {
  return { ...emptyComposer, history: withEarlier(emptyHistory, earlier) };
}

/** What a key or a paste does. Pure: the same composer, key and context give the same. */
export function press(composer: Composer, key: Key, context: Context): Outcome {
  const fresh = { ...composer, notice: undefined, armed: undefined };
  if (composer.search === undefined) return pressed(fresh, key, context, composer.armed);
  const { composer: next, isDone } = searchKey(fresh, composer.search, key);
  return isDone ? only(next) : pressed(next, key, context, undefined);
}

/** The answer to `complete-path`; one that comes too late changes nothing. */
export function offered(composer: Composer, id: number, items: readonly string[]): Composer {
  return { ...composer, completion: withOffered(composer.completion, id, items) };
}

/** What an editor of the person's own made of the text; an undo brings back what was there before. */
export function edited(composer: Composer, text: string): Composer {
  const { buffer } = composer;
  const [before, read] = [whole(buffer), plainText(text)];
  // An editor ends what it writes with a line end.
  if (read === before || read === `${before}\n`) return composer;
  const plain = read.replace(/\n$/, '');
  if (plain.length > bufferLimits.characters) return { ...composer, notice: tooMuch };
  return {
    ...composer,
    completion: undefined,
    buffer: change(buffer, 0, buffer.text.length, plain, 'edited'),
  };
}

/** A message that the session refused, and why: it is written again, or stays in the history behind what is written. */
export function giveBack(composer: Composer, text: string, why: string): Composer {
  const notice = plainText(why).replaceAll('\n', ' ');
  if (composer.buffer.text !== '') return { ...composer, notice: `${notice} (not sent; Up brings it back)` };
  return { ...composer, notice, buffer: load(composer.buffer, asWritten(composer.history, text)) };
}

function pressed(composer: Composer, key: Key, context: Context, armed: Composer['armed']): Outcome {
  if (key.type === 'text' && key.text === '?' && composer.buffer.text === '')
    return asks(composer, { type: 'help' });
  if (key.type !== 'key') {
    const isPaste = key.type === 'paste' || isLong(key.text);
    const buffer = isPaste ? paste(composer.buffer, key.text) : insert(composer.buffer, key.text);
    if (buffer === undefined) return only({ ...composer, notice: tooMuch });
    const dropped = key.type === 'paste' ? (key.dropped ?? 0) : 0;
    const octets = dropped.toLocaleString('en-US');
    const notice =
      dropped === 0 ? undefined : `the paste was too long: its last ${octets} octets are missing`;
    return written({ ...composer, notice }, buffer, context);
  }
  const chord = chordOf(key) ?? '';
  if (armed === 'ctrl-x' && chord === 'ctrl+e')
    return editOutside(composer, context, armed) ?? only(composer);
  const { completion } = composer;
  const chosen = completion === undefined ? undefined : completionKey(composer, completion, chord, context);
  if (chosen !== undefined) return chosen;
  const done = commandKeys.get(chord)?.(composer, context, armed);
  if (done !== undefined) return settled(done, composer, context);
  const buffer = editKeys.get(chord)?.(composer.buffer) ?? composer.buffer;
  return written(composer, buffer, context);
}

/** The list follows the text: it opens where text was changed. */
function written(composer: Composer, buffer: Buffer, context: Context): Outcome {
  if (buffer === composer.buffer) return only(composer);
  return withCompletion({ ...composer, buffer }, context, buffer.text !== composer.buffer.text);
}

/** A list does not outlast the text that it was for. */
function settled(outcome: Outcome, before: Composer, context: Context): Outcome {
  const { composer, effects } = outcome;
  if (composer.completion === undefined || composer.buffer === before.buffer) return outcome;
  const next = withCompletion(composer, context, false);
  return { composer: next.composer, effects: [...effects, ...next.effects] };
}
