/* Finds secrets that are assigned to a secret-like name. */
import type { SecretMatch } from './secret-patterns.ts';
import { exec, valuesAt } from './secret-value.ts';

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
function unrestOf(text: string): number {
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
function isJoinedWords(text: string): boolean {
  if (!nameForm.test(text)) return false;
  const plain = text.replace(/[^A-Za-z0-9]/g, '');
  const letters = plain.replace(/\d/g, '').length;
  if ((plain.length - letters) * 4 > plain.length) return false;
  const words = wordsIn(text);
  const judged = words.reduce((sum, { length }) => sum + length, 0);
  if (judged * 2 < letters) return false;
  if (words.reduce((sum, word) => sum + strangePairs(word), 0) * 10 > judged - words.length) return false;
  return unrestOf(plain.replace(/[A-Z](?=[a-z]{2})/g, (capital) => capital.toLowerCase())) < 0.3;
}

function wordsIn(text: string): readonly string[] {
  return (text.match(wordForm) ?? []).filter(({ length }) => length >= leastWord);
}

/** Words without a strange pair, joined. */
function plainWords(text: string): string {
  return wordsIn(text)
    .filter((word) => strangePairs(word) === 0)
    .join('');
}

function strangePairs(name: string): number {
  const word = name.toLowerCase();
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
  /\$\{|^\$\(|\$\([a-z_][\w ./-]*\)|\{\{|#\{|<%|%(?:\(\w+\)|[sd](?![a-z\d])|\{)|^<.*>$|^\[.*\]$|^\{.*\}$|^%[A-Za-z_]\w*%$|^\$[a-z_][\w.:/[\]>$-]*$|^@[a-z][\w./:-]*@?$|process\.env|getenv|environ|secretKeyRef|^vault:|^arn:|^secret\/|^env[:.(]|^ref[:+]/i;
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

const stems = [
  ...['pass', 'secr', 'toke', 'apik', 'api_', 'api-', 'cred', 'acce', 'priv', 'encr', 'sign', 'auth'],
  ...['pwd=', 'pwd:', 'pwd"', "pwd'", 'pwd ', 'pwd>'],
];

/** First four bytes of every secret-like name, as names are spelt: `apiKey`, `ApiKey`, `API_KEY`. */
export const assignedAnchors: readonly string[] = [
  ...new Set([
    ...stems.flatMap((stem) => [stem, stem.charAt(0).toUpperCase() + stem.slice(1), stem.toUpperCase()]),
    'apiK',
    'ApiK',
  ]),
];

const name =
  '(?:(?<word>pass(?:wor[dt]|wd|phrase|code)?|pwd|credentials?)|(?<key>secret(?:[_-]?(?:access)?[_-]?key)?|token|api[_-]?(?:secret[_-]?)?(?:key|token|secret)|access[_-]?key|priv(?:ate)?[_-]?key|encryption[_-]?key|signing[_-]?(?:key|secret)|auth[_-]?(?:key|token|secret)))';
const tail =
  '(?:[_-]?(?:prod(?:uction)?|dev|stag(?:e|ing)|live|local|value|val|str(?:ing)?|base|text|plain|raw|default|v?\\d{1,2})){0,2}';
const closed = '(?:\\\\{0,2}["\'`])?\\]?';
const typed =
  "(?:[ \\t]{0,4}:[ \\t]{0,4}(?:&(?:'static )?)?(?:string|str|bytes|char|const|\\?)+\\??(?=[ \\t]{0,4}=))?";
const secretName = new RegExp(`${name}${tail}(?!\\w)${closed}${typed}`, 'iy');
/** The end of a line with its comment or its continuation mark, then up to two blank lines; a diff marks its lines. */
const lineEnd = '[ \\t]{0,16}(?:(?:#|//)[^\\n]{0,80}|\\\\)?(?:\\r?\\n[+-]?[ \\t]{0,120}){1,3}';
const sign = '(?<sign>=>|:=|::|={1,3}|:|>(?:<!\\[CDATA\\[)?|\\(|,)[ \\t]{0,16}(?<bracket>\\([ \\t]{0,16})?';
/** What gives a value to a name, up to the value: `x = y`. */
const besideForm = new RegExp(`[ \\t]{0,16}${sign}`, 'y');
/** The same, where the sign or the value is on the next line, or in a block of YAML. */
const belowForm = new RegExp(
  `(?:[ \\t]{0,16}|${lineEnd}(?=:?=))${sign}(?<below>(?:[>|][-+]?\\d?[-+]?)?${lineEnd})?`,
  'y',
);
/**
 * The name is itself a value, and its value follows: `key="dbPassword" value="x"`, `{"name": "TOKEN", "value": "x"}`,
 * two lines of YAML.
 */
const pairForm =
  /(?<gap>[ \t]{0,8}[,;]?[\s+]{0,40}\\{0,2}["'`]?value\\{0,2}["'`]?)[ \t]{0,8}(?<sign>[:=])[ \t]{0,8}/iy;
const signForms = [besideForm, belowForm, pairForm];
/** `--password x`; a backslash may carry the value to the next line. */
const flagForm = /(?<sign>[ \t])[ \t]{0,4}(?:\\\r?\n[+-]?[ \t]{0,120})?/y;
/** Signs of program text: a value without quotes that has them is an expression. */
const expression = /\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|<[^<>]*>|[=-]>|\|\||&&|::|[(,]$/;
/** Quotes within quotes where texts are joined. */
const joinedTexts = /^["'`]|["'`]$|["'`]\s?[+.,:;)\]]|[+.,(:=[]\s?["'`]/;
/** A name at the end of its line; its sign begins the next one. */
const signBelow = /[ \t]{0,16}\r?\n[+-]?[ \t]{0,120}:?=/y;
const flagBefore = /(?:^|[\s"'`,([])--[a-z-]{0,24}$/i;
const pairAhead = /^[\s,;+"'`\\]{0,60}value/i;
/** What is written before a name without a mark between: `PGPASSWORD`, `dbpass`. */
const joinedBefore = /(?:^|[^A-Za-z])(?:pg|ssh|db|mysql|redis|root|user|admin|smtp|ldap)$/i;

/** Words before a name that mark its value as harmless. */
const harmlessBefore =
  /(?:public|hash(?:ed)?|encrypted|crypted|masked|redacted|reset|csrf|xsrf|cancel(?:lation)?|next|prev|page|paging|continuation|sync|max|min|num|no|is|has|require[sd]?|invalid|missing|forgot|idempotency|request|cache|sort|row|primary|foreign)[_-]?$/i;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Paths, addresses, calls, versions, dates, and digests with a label. */
const harmlessValue =
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|\.{0,2}\/|~\/|[A-Za-z]:\\|#[0-9a-f]{3,8}$|v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d|sha(?:1|256|384|512)[-:]|md5[-:]|data:|image\/|text\/|application\/|urn:|\*[./]|\^[\d~]|\\[\w.])|^\^.*\$$|[)\]*+?]\$$|\(\?|\[\^?[a-z0-9]-|=>|::|[a-z]{3}\(\)|<\/?[a-z][\w-]*(?:[ /][^<>]*)?>/i;
const wordsJoined = /^[A-Za-z]+(?:[-_./:][A-Za-z]+)*[-_.]?\d{0,4}$/;
const onlyWords = /^[A-Za-z]+(?:[-_./:][A-Za-z]+)*[:.?!*]?$/;
/** `wall=0.12s` behind the number of a pass. */
const measured = /^[a-z_]{1,20}=\d{1,12}(?:\.\d{1,9})?(?:[mun]?s|%|[kKMG]?i?B)?$/;
/** A verdict, as test drivers print it: `PASS: tests/base64test`, `--- PASS: TestReset/v2`, `[PASS] x: y`. */
const verdict = /^PASS[ \t]{0,2}:/;
const verdictBefore = /(?:^|[\s[>])(?:-{3} |X)?$/;
/** The title of a test: `password: rejects_v1_hashes`. */
const titled = /:\s{1,140}[^\s:]+$/;
const snakeCase = /^[a-z0-9]+(?:[_/][a-z0-9]+){2,}$/;
const member = /^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+$/;

/**
 * The value that is given to a secret-like name at `at`, where it is random enough to be a secret: a password of
 * several kinds of characters, a key or token of at least 16 characters without words.
 */
export function findAssigned(text: string, at: number): SecretMatch | undefined {
  const named = mayAssign(text, at) ? exec(secretName, text, at) : null;
  if (!named) return undefined;
  const before = text.slice(Math.max(0, at - 80), at);
  const isFlag = flagBefore.test(before);
  const isWord = named.groups?.word !== undefined;
  const isClosed = /["'`]/.test(named[0]);
  for (const form of isFlag ? [...signForms, flagForm] : signForms) {
    const given = exec(form, text, at + named[0].length);
    if (!given?.groups || (form === belowForm && !given[0].includes('\n'))) continue;
    if (!isNameBoundary(before, named[0]) || harmlessBefore.test(before)) return undefined;
    const { sign = '', bracket, below, gap } = given.groups;
    // The sign `>` closes a tag.
    if (sign.startsWith('>') && !before.includes('<')) continue;
    const isTight = given[0] === sign;
    const assigned = { before, isFlag, isClosed, isTight, sign, bracket, below, gap };
    for (const { start, end, isBare, isLine, written } of valuesAt(text, form.lastIndex, assigned)) {
      const found = text.slice(start, end);
      // An option's option: `--secret id=…`.
      if (form === flagForm && isBare && found.includes('=')) return undefined;
      // In an environment no value is an expression.
      const isEnvironment = isLine && !/[a-z]/.test(named[0]) && text.charAt(start - 1) === '=';
      if (joinedTexts.test(found) || isExpression(written) || !isSecret(found, isWord, isEnvironment))
        continue;
      if (isWord && isBare && isTestName(before, text.slice(at, end), found)) continue;
      const rule = isWord ? 'assigned-password' : 'assigned-key';
      return { rule, kind: 'assigned', start, end, ...(isBare && !isFlag ? { bare: true } : {}) };
    }
  }
  return undefined;
}

/**
 * A quick look before the form is tried: letters of a name, then soon a sign that gives it a value. Most names fail it.
 */
function mayAssign(text: string, at: number): boolean {
  let from = at + 3;
  const most = at + 48;
  for (; from < most; from += 1) {
    const code = text.charCodeAt(from);
    const isName =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
    // `-` occurs in names; quotes, `]`, `?` and blanks occur before the sign.
    if (!isName && code !== 45 && code !== 34 && code !== 39 && code !== 96 && code !== 93 && code !== 92)
      break;
  }
  for (; from < most && (text.charCodeAt(from) === 32 || text.charCodeAt(from) === 9); from += 1);
  if ('=:>(,?'.includes(text.charAt(from)) && from < text.length) return true;
  if (exec(signBelow, text, from)) return true;
  return text.charCodeAt(at - 1) === 45 || text.charCodeAt(from - 1) === 32
    ? from < text.length &&
        (flagBefore.test(text.slice(Math.max(0, at - 28), at)) || pairAhead.test(text.slice(from, from + 66)))
    : pairAhead.test(text.slice(from, from + 66));
}

/**
 * Whether the name begins here: no letter of the same word precedes it (`compass`), or a new word begins
 * (`dbPassword`).
 */
function isNameBoundary(before: string, matched: string): boolean {
  const last = before.charAt(before.length - 1);
  if (!/[A-Za-z]/.test(last) || joinedBefore.test(before)) return true;
  const first = matched.charAt(0);
  return /[a-z]/.test(last) && /[A-Z]/.test(first);
}

/** Where all kinds of characters are mixed and no word is among them, its brackets are drawn as well. */
function isExpression(written: string): boolean {
  return expression.test(written) && (classesOf(written) < 4 || plainWords(written) !== '');
}

function isSecret(found: string, isWord: boolean, isEnvironment: boolean): boolean {
  const joined = isWord ? onlyWords : wordsJoined;
  if (isPlaceholder(found) || harmlessValue.test(found) || member.test(found) || joined.test(found))
    return false;
  if (isWord) return isPassword(found) && !measured.test(found);
  return (
    (isEnvironment ? found.length >= leastKey && isPassword(found) : isKey(found)) && !isJoinedWords(found)
  );
}

/** Words behind a verdict, or three and more of them that are joined as in the name of a test. */
function isTestName(before: string, matched: string, found: string): boolean {
  const isVerdict = verdict.test(matched) && verdictBefore.test(before);
  return (isVerdict || (titled.test(matched) && snakeCase.test(found))) && isJoinedWords(found);
}

/** Of several kinds of characters, as people are made to choose them. */
export function isPassword(found: string): boolean {
  if (found.length > 128 || !/[A-Za-z]/.test(found) || uuid.test(found)) return false;
  if (/\s/.test(found) && !isSpaced(found)) return false;
  return entropyOf(found) >= 2.5 && (classesOf(found) >= 3 || unrestOf(found) >= 0.3);
}

/** Whether blanks divide pieces of a password, and not words of a message. */
function isSpaced(found: string): boolean {
  return /^\S+(?: \S+){1,3}$/.test(found) && plainWords(found) === '' && classesOf(found) === 4;
}

const leastKey = 16;

/** At least 16 characters without words. */
export function isKey(found: string): boolean {
  if (found.length < leastKey || !/\d/.test(found) || !/[A-Za-z]/.test(found)) return false;
  if (/[^!-~]/.test(found) || entropyOf(found) < 3) return false;
  const unrest = unrestOf(found);
  if (/^[\w.~+/=:$@!%^*-]+$/.test(found)) return unrest >= 0.25;
  // Brackets, commas and similar characters occur in expressions and messages.
  return unrest >= 0.4 && plainWords(found).length * 3 < found.length;
}
