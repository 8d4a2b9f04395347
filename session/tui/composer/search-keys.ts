import type { Key } from '../term/key.ts';
import { borderBefore } from './borders.ts';
import { load } from './buffer.ts';
import { chordOf } from './chord.ts';
import type { Composer, Search } from './composer.ts';
import { findBefore, showFound } from './history.ts';
import { plainText } from './plain-text.ts';

const mostWords = 256;

export function beginSearch(composer: Composer): Composer {
  const search = { words: '', found: undefined, hasFailed: false };
  return { ...composer, search, completion: undefined };
}

/**
 * A key while history is searched. Where `isDone` is false the key is still to be done: what was found is taken, and
 * the key is one of the text; a paste that is more than words to search for goes into the text as it was.
 */
export function searchKey(
  composer: Composer,
  search: Search,
  key: Key,
): { readonly composer: Composer; readonly isDone: boolean } {
  const done = (next: Composer) => ({ composer: next, isDone: true });
  if (key.type === 'paste' && (key.text.length > mostWords || key.text.includes('\n')))
    return { composer: { ...composer, search: undefined }, isDone: false };
  if (key.type !== 'key') {
    const words = (search.words + plainText(key.text).replaceAll('\n', ' '))
      .slice(0, mostWords)
      .toWellFormed();
    return done({ ...composer, search: sought(composer, words, composer.history.entries.length) });
  }
  switch (chordOf(key)) {
    case 'escape':
    case 'ctrl+g':
    case 'ctrl+c':
      return done({ ...composer, search: undefined });
    case 'enter':
    case 'tab':
      return done(taken(composer, search));
    case 'ctrl+r':
    case 'up':
      return done({ ...composer, search: older(composer, search) });
    case 'backspace':
    case 'ctrl+h': {
      const words = search.words.slice(0, borderBefore(search.words, search.words.length));
      return done({ ...composer, search: sought(composer, words, composer.history.entries.length) });
    }
    default:
      return { composer: taken(composer, search), isDone: false };
  }
}

function sought(composer: Composer, words: string, from: number): Search {
  if (words === '') return { words, found: undefined, hasFailed: false };
  const found = findBefore(composer.history, words, from);
  return { words, found, hasFailed: found === undefined };
}

/** The next older one with the same words; the one that is found stays where there is none. */
function older(composer: Composer, search: Search): Search {
  if (search.words === '' || search.found === undefined) return search;
  const shown = composer.history.entries[search.found]?.text;
  let next = findBefore(composer.history, search.words, search.found - 1);
  while (next !== undefined && composer.history.entries[next]?.text === shown)
    next = findBefore(composer.history, search.words, next - 1);
  return next === undefined ? { ...search, hasFailed: true } : { ...search, found: next, hasFailed: false };
}

/** What was found is the text now; what was written before is a step down in the history. */
function taken(composer: Composer, search: Search): Composer {
  if (search.found === undefined) return { ...composer, search: undefined };
  const { history, shown } = showFound(composer.history, composer.buffer, search.found);
  return { ...composer, search: undefined, closed: undefined, history, buffer: load(composer.buffer, shown) };
}
