/* Finds secrets that are assigned to a secret-like name. */
import { classesOf, entropyOf, isJoinedWords, isPlaceholder, unrestOf } from './randomness.ts';
import type { SecretMatch } from './secret-patterns.ts';

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
  '(?:(?:[A-Za-z]{1,2}|@)?(?<quote>\\\\{0,2}["\'`])(?<quoted>[^"\'`\\s\\\\]{8,256})\\\\{0,2}["\'`]|(?<bare>[^\\s"\'`,;<>(){}[\\]&|#\\\\]{8,256}))';
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
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|\.{0,2}\/|~\/|[A-Za-z]:\\|#[0-9a-f]{3,8}$|v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d|sha(?:1|256|384|512)[-:]|md5[-:]|data:|image\/|text\/|application\/|urn:|\*|\^|\\)|\$$|\(\?|\[\^?[a-z0-9]-|=>|::|\(\)|<[a-z]/i;
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
  const match =
    exec(form, text, at) ?? exec(pairForm, text, at) ?? (isFlag ? exec(flagForm, text, at) : null);
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
  if (isBare && !mayBeBare(groups, text, endOfMatch)) return undefined;
  const isWord = groups.word !== undefined;
  if (!(isWord ? isPassword(found) : isKey(found)) || isHarmless(found, isWord)) return undefined;
  if (isWord && isBare && isTestName(before, match[0], found)) return undefined;
  const endOfValue = endOfMatch - (isBare ? 0 : trailingQuote(match[0]));
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

function trailingQuote(matched: string): number {
  return /\\{0,2}["'`]$/.exec(matched)?.[0].length ?? 0;
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
