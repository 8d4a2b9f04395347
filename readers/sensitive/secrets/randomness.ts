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

/**
 * Words that mark a value as one to replace, or as not a secret. `example` covers the keys of vendors' documentation
 * (`AKIAIOSFODNN7EXAMPLE`).
 */
const tellingWords =
  /example|sample|placeholder|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this|with)|(?:^|[^a-z])(?:your|my|some|the|insert|enter|put)[-_ .]?(?:[a-z]{1,12}[-_ .]){0,3}(?:key|token|secret|password|passw?d|here|value|credential)|to-?do[-_:]|fixme|dummy|redacted|censored|masked|not[-_ ]?(?:(?:a|my)[-_ ]?)?(?:real|secret|valid)|(?:^|[-_.])(?:fake|mock|stub|invalid|test(?:ing)?)(?:[-_.]|$)|^(?:test|pass(?:word|wd)?|admin|user|demo|secret|welcome|qwerty)[\d!@#$.]{0,6}$|x{5,}|\*{3,}|\.{3,}|_{5,}/i;
/** Templates for a value that is inserted later: `${…}`, `{{…}}`, `<…>`, `%(…)s`, `$NAME`, `process.env.…`. */
const templates =
  /\$\{|\$\(|\{\{|#\{|<%|%[({sd]|^<.*>$|^\[.*\]$|^\{.*\}$|^%[A-Za-z_]+%$|^\$[A-Za-z_]|^@[A-Za-z]|process\.env|getenv|environ|secretKeyRef|^vault:|^arn:|^secret\/|^env[:.(]|^ref[:+]/i;
const runs = [
  '0123456789',
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  '0123456789abcdef',
  'deadbeef',
];

/** Examples of RFC 6749, 6750 and 5849: tests and documents of every OAuth library contain them. */
const standards = new Set(
  '2YotnFZFEjr1zCsicMWpAA tGzv3JOkF0XG5Qx2TlKWIA SplxlOBeZQQYbYS6WxSbIA gX1fBat3bV 7Fjfp0ZBr1KtDRbnfVdmIw czZCaGRSa3F0MzpnWDFmQmF0M2JW czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3 mF_9.B5f-4.1JqM mF_9.B5f-4.1JqMmF_9.B5f-4.1JqM ad180jjd733klru7 nnch734d00sl2jdk pfkkdhi9sl3r4s00 kd94hf93k423kf44 hh5s93j4hdidpola hdhd0244k9j7ao03'.split(
    ' ',
  ),
);

/**
 * Whether a value is a placeholder and not a secret: a word marks it, it is a template, it repeats a few characters,
 * or it counts through the alphabet. For values of a known format, which never contain these by chance.
 */
export function isPlaceholder(value: string): boolean {
  if (tellingWords.test(value) || templates.test(value) || standards.has(value)) return true;
  if (saysSoEncoded(value)) return true;
  const body = value.replace(/^[A-Za-z]{2,8}[-_.]/, '').toLowerCase();
  const chars = body.replace(/[^a-z0-9]/g, '');
  if (new Set(chars).size < 5) return true;
  return isCounting(chars);
}

/** Whether it is the base64 form of such words. */
function saysSoEncoded(value: string): boolean {
  if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]{12,200}={0,2}$/.test(value)) return false;
  const text = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(text) && (tellingWords.test(text) || templates.test(text));
}

/** Most of the text is pieces of well-known rows: `1234567890abcdef…`. */
function isCounting(chars: string): boolean {
  let covered = 0;
  for (let at = 0; at < chars.length; ) {
    let longest = 0;
    for (const run of runs) {
      const from = run.indexOf(chars.charAt(at));
      if (from < 0) continue;
      let length = 0;
      while (length < run.length - from && chars.charAt(at + length) === run.charAt(from + length))
        length += 1;
      longest = Math.max(longest, length);
    }
    if (longest >= 4) covered += longest;
    at += Math.max(1, longest);
  }
  return covered >= chars.length * 0.7;
}
