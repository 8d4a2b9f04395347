/* Finds secrets that are assigned to a secret-like name. */
import type { SecretMatch } from './secret-patterns.ts';

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
/** The end of a line with its comment or its continuation mark, then up to two blank lines; a diff marks its lines. */
const lineEnd = '[ \\t]{0,16}(?:(?:#|//)[^\\n]{0,80}|\\\\)?(?:\\r?\\n[+-]?[ \\t]{0,120}){1,3}';
/** `x = y`; the value or the sign may be on the next line, and the value may be in brackets or a block of YAML. */
const between = `(?:[ \\t]{0,16}|${lineEnd}(?=:?=))(?<sign>=>|:=|::|={1,3}|:|>|\\(|,)[ \\t]{0,16}(?<bracket>\\([ \\t]{0,16})?(?<below>(?<block>[>|][-+]?\\d?[-+]?)?${lineEnd})?`;
const value =
  '(?:(?:[A-Za-z]{1,2}|@)?(?<quote>\\\\{0,2}["\'`])(?<quoted>(?:(?!\\k<quote>)(?:[^\\s\\\\]|\\\\\\S)){8,256})\\k<quote>|(?<bare>[^\\s"\'`,;<>(){}[\\]&|#\\\\]{8,256}))';
const valueEnd = /^[\s,;<&"'`\\)}\]]?$/;
const form = new RegExp(`${name}${tail}${closed}${typed}${between}${value}`, 'iy');
/**
 * The name is itself a value, and its value follows: `key="dbPassword" value="x"`, `{"name": "TOKEN", "value": "x"}`,
 * two lines of YAML.
 */
const pairForm = new RegExp(
  `${name}${tail}\\\\{0,2}["'\`]?[ \\t]{0,8}[,;]?[\\s+]{0,40}\\\\{0,2}["'\`]?value\\\\{0,2}["'\`]?[ \\t]{0,8}(?<sign>[:=])[ \\t]{0,8}${value}`,
  'iy',
);
/** `--password x`; a backslash may carry the value to the next line. */
const flagForm = new RegExp(
  `${name}${tail}(?<sign>[ \\t])[ \\t]{0,4}(?:\\\\\\r?\\n[+-]?[ \\t]{0,120})?${value}`,
  'iy',
);
/** A value without quotes that ends with its word, whatever signs are in it. */
const wholeForm = new RegExp(
  `${name}${tail}(?<sign>[ \\t]{0,16}[:=][ \\t]{0,16}|[ \\t]{1,4})(?<bare>[^\\s"'\`][^\\s"\`]{6,254}[^\\s"'\`,;)\\]}\\\\])`,
  'iy',
);
const restOfLine = /[,;)\]}'\\]{0,8}[ \t]{0,40}(?:#[^\n]{0,200})?(?:\r?\n|$)/y;
const endOfWord = /[,;)\]}'\\]{0,8}(?:\s|$)/y;
const wordBefore = /(?:^|\s)[+-]?[\w.-]{0,60}$/;
const lineBefore = /(?:^|\n)[+-]?[ \t]{0,40}(?:export |- )?[\w.-]{0,60}$/;
/** Signs of program text and of lists of names and values: a value ends before them. */
const expression = /\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|<[^<>]*>|[=-]>|\|\||&&|::|[&;,?]\w{1,40}[=:]/;
/** Quotes within quotes where texts are joined. */
const joinedTexts = /^["'`]|["'`]$|["'`]\s?[+.,:;)\]]|[+.,(:=[]\s?["'`]/;
/** A name at the end of its line; its sign begins the next one. */
const signBelow = /[ \t]{0,16}\r?\n[+-]?[ \t]{0,120}:?=/y;
/** After an unquoted value on a separate line. */
const ownLineEnd = /[ \t]{0,40}(?:#[^\n]{0,200})?(?:\r?\n|$)/y;
const closingTag = /\s{0,40}[+-]?\s{0,80}<\//y;
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
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|\.{0,2}\/|~\/|[A-Za-z]:\\|#[0-9a-f]{3,8}$|v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d|sha(?:1|256|384|512)[-:]|md5[-:]|data:|image\/|text\/|application\/|urn:|\*|\^|\\)|\$$|\(\?|\[\^?[a-z0-9]-|=>|::|\(\)|<\/?[a-z][^<>]*>/i;
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
  if (!mayAssign(text, at)) return undefined;
  const before = text.slice(Math.max(0, at - 80), at);
  const isFlag = flagBefore.test(before);
  const whole = execWhole(text, at, before);
  const match =
    whole ?? exec(form, text, at) ?? exec(pairForm, text, at) ?? (isFlag ? exec(flagForm, text, at) : null);
  const groups = match?.groups;
  if (!match || !groups) return undefined;
  const found = groups.quoted ?? groups.bare ?? '';
  // An option's option: `--secret id=…`.
  if (groups.sign?.trim() === '' && found.includes('=')) return undefined;
  if (!isNameBoundary(before, match[0]) || harmlessBefore.test(before)) return undefined;
  const isBare = groups.quoted === undefined;
  // The sign `>` closes a tag.
  if (groups.sign === '>' && !before.includes('<')) return undefined;
  const endOfMatch = at + match[0].length;
  const isWord = groups.word !== undefined;
  if (match !== whole) {
    if (isBare ? !mayBeBare(groups, text, endOfMatch) : joinedTexts.test(found)) return undefined;
    if (!(isWord ? isPassword(found) : isKey(found)) || isHarmless(found, isWord)) return undefined;
  }
  if (isWord && isBare && isTestName(before, match[0], found)) return undefined;
  const endOfValue = endOfMatch - (isBare ? 0 : (groups.quote?.length ?? 0));
  const isTag = groups.sign === '>' && matchesAt(closingTag, text, endOfValue);
  return {
    rule: isWord ? 'assigned-password' : 'assigned-key',
    kind: 'assigned',
    start: endOfValue - found.length,
    end: endOfValue,
    ...(isBare && !isTag && !isFlag && !isConnectionPart(text, at, endOfValue, groups.sign)
      ? { bare: true }
      : {}),
  };
}

/**
 * Whether an unquoted value may be a secret: in a call or a list, a value must be quoted. On a line below its name,
 * it must be the whole line.
 */
function mayBeBare(groups: Readonly<Record<string, string | undefined>>, text: string, end: number): boolean {
  // Ends where a value can end; tested here, because a form that looks ahead would try every shorter value.
  if (!valueEnd.test(text.charAt(end)) || groups.bracket !== undefined) return false;
  const sign = groups.sign ?? '';
  if (sign === '(' || sign === ',' || sign === '::') return false;
  if (groups.below === undefined) return true;
  if (sign === '>') return matchesAt(closingTag, text, end);
  return (sign === ':' || groups.below.trimStart().startsWith('\\')) && matchesAt(ownLineEnd, text, end);
}

/**
 * Matches a value that all signs up to the next white space belong to: on a line of its own (an environment, YAML,
 * INI, properties), or behind `=` in a list that white space divides.
 */
function execWhole(text: string, at: number, before: string): RegExpExecArray | null {
  const match = wordBefore.test(before) ? exec(wholeForm, text, at) : null;
  if (!match?.groups) return null;
  const { sign = '', bare = '', word } = match.groups;
  const end = at + match[0].length;
  const isLine = lineBefore.test(before) && matchesAt(restOfLine, text, end);
  const isOption = sign.trim() === '' && flagBefore.test(before);
  const isWhole = isOption || sign === '=' ? matchesAt(endOfWord, text, end) : isLine && sign.trim() !== '';
  const [token = ''] = text.slice(end - bare.length, end + 8).split(/\s/);
  if (!isWhole || expression.test(token)) return null;
  if (word !== undefined) return isPassword(bare) && !isHarmless(bare, true) ? match : null;
  // In an environment no value is an expression.
  const isCapital = isLine && sign === '=' && !/[a-z]/.test(match[0].slice(0, match[0].indexOf('=')));
  return isCapital && bare.length >= 16 && isPassword(bare) && !isHarmless(bare, false) ? match : null;
}

function matchesAt(form: RegExp, text: string, at: number): boolean {
  form.lastIndex = at;
  return form.test(text);
}

function exec(of: RegExp, text: string, at: number): RegExpExecArray | null {
  of.lastIndex = at;
  return of.exec(text);
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
  if (matchesAt(signBelow, text, from)) return true;
  return text.charCodeAt(at - 1) === 45 || text.charCodeAt(from - 1) === 32
    ? from < text.length &&
        (flagBefore.test(text.slice(Math.max(0, at - 28), at)) || pairAhead.test(text.slice(from, from + 66)))
    : pairAhead.test(text.slice(from, from + 66));
}

/** `…;Password=x;…` inside one string. */
function isConnectionPart(text: string, at: number, end: number, sign: string | undefined): boolean {
  if (sign !== '=') return false;
  const before = text.slice(Math.max(0, at - 12), at);
  const after = text.charAt(end);
  return /;\s{0,4}(?:\w{1,8} )?$/.test(before) && (after === ';' || after === '"' || after === "'");
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

function isHarmless(found: string, isWord: boolean): boolean {
  const joined = isWord ? onlyWords : wordsJoined;
  if (isPlaceholder(found) || harmlessValue.test(found) || member.test(found) || joined.test(found))
    return true;
  return isWord ? measured.test(found) : isJoinedWords(found);
}

/** Words behind a verdict, or three and more of them that are joined as in the name of a test. */
function isTestName(before: string, matched: string, found: string): boolean {
  const isVerdict = verdict.test(matched) && verdictBefore.test(before);
  return (isVerdict || (titled.test(matched) && snakeCase.test(found))) && isJoinedWords(found);
}

/** Of several kinds of characters, as people are made to choose them. */
export function isPassword(found: string): boolean {
  if (found.length > 128 || !/[A-Za-z]/.test(found) || uuid.test(found)) return false;
  return entropyOf(found) >= 2.5 && (classesOf(found) >= 3 || unrestOf(found) >= 0.3);
}

/** At least 16 characters without words. */
export function isKey(found: string): boolean {
  if (found.length < 16 || !/\d/.test(found) || !/[A-Za-z]/.test(found)) return false;
  // Brackets, commas and similar characters occur in expressions and messages.
  if (!/^[\w.~+/=:$@!%^*-]+$/.test(found)) return false;
  return entropyOf(found) >= 3 && unrestOf(found) >= 0.25;
}
