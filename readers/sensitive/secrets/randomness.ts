/** Shannon entropy of a latin1 text in bits per character. */
export function entropyOf(text: string): number {
  const counts = new Uint32Array(256);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) & 255;
    counts[code] = (counts[code] as number) + 1;
  }
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  }
  return bits;
}

/** How many of lower-case letters, capitals, digits and other characters a text has. */
export function classesOf(text: string): number {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/];
  return classes.filter((one) => one.test(text)).length;
}

/**
 * Share of neighbours that are of different classes: about 0.6 where letters of both cases and digits are drawn at
 * random, 0.4 in hexadecimal digits, under 0.2 in words, names and versions.
 */
export function unrestOf(text: string): number {
  if (text.length < 2) return 0;
  let changes = 0;
  for (let at = 1; at < text.length; at += 1) {
    if (classOf(text.charAt(at)) !== classOf(text.charAt(at - 1))) changes += 1;
  }
  return changes / (text.length - 1);
}

function classOf(char: string): 'lower' | 'upper' | 'digit' | 'other' {
  if (char >= 'a' && char <= 'z') return 'lower';
  if (char >= 'A' && char <= 'Z') return 'upper';
  return char >= '0' && char <= '9' ? 'digit' : 'other';
}

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
