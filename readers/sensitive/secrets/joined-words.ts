import { unrestOf } from './randomness.ts';

/** Names in programs, of files and of tests: `tests/base64test`, `rejects_v1_tokens_2`, `TokenKind2Refresh`. */
const nameForm = /^[-_./:]{0,2}[A-Za-z0-9]+(?:[-_./:]{1,2}[A-Za-z0-9]+)*:?$/;
const wordForm = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;
/** Shorter ones are abbreviations as often. */
const leastWord = 4;

/** What follows each letter in words. Of all pairs about the half: random letters soon make another one. */
const followers: Readonly<Record<string, string>> = {
  ...{ a: 'bcdefghiklmnprstuvwxyz', b: 'abdeijlorstuy', c: 'acehiklorstuy', d: 'adegilmnorsuvwy' },
  ...{ e: 'abcdefgilmnopqrstuvwxyz', f: 'aefilorstuy', g: 'aeghilnorstuy', h: 'aeimnortuy' },
  ...{ i: 'abcdefgklmnopqrstvxz', j: 'aeosu', k: 'aeilnosy', l: 'acdefgiklmopstuvy', m: 'abeilmopsuy' },
  ...{ n: 'acdefghijklnostuvxy', o: 'abcdefghiklmnoprstuvwxyz', p: 'aehiloprstuy', q: 'u' },
  ...{
    r: 'abcdefgiklmnoprstuvwy',
    s: 'acefhiklmnopqrstuwy',
    t: 'acefhilmnorstuwy',
    u: 'abcdefgiklmnoprstvxz',
  },
  ...{ v: 'aeioy', w: 'aehilnorsy', x: 'aceipty', y: 'abcdelmnoprstw', z: 'aeioyz' },
};

/**
 * Whether a text is words that are joined, few of them with a number: what makes it restless are its joints and
 * capitals, and without these it reads as words do.
 */
export function isJoinedWords(text: string): boolean {
  if (!nameForm.test(text)) return false;
  const plain = text.replace(/[^A-Za-z0-9]/g, '');
  const letters = plain.replace(/\d/g, '').length;
  if ((plain.length - letters) * 4 > plain.length) return false;
  const words = (text.match(wordForm) ?? []).filter(({ length }) => length >= leastWord);
  const judged = words.reduce((sum, { length }) => sum + length, 0);
  if (judged * 2 < letters) return false;
  const pairs = judged - words.length;
  if (words.reduce((sum, word) => sum + strangePairs(word.toLowerCase()), 0) * 10 > pairs) return false;
  return unrestOf(plain.replace(/[A-Z](?=[a-z]{2})/g, (capital) => capital.toLowerCase())) < 0.3;
}

function strangePairs(word: string): number {
  let count = 0;
  for (let at = 1; at < word.length; at += 1)
    if (followers[word.charAt(at - 1)]?.includes(word.charAt(at)) !== true) count += 1;
  return count;
}
