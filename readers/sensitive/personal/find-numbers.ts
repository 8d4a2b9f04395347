/* Finds card, account, national and telephone numbers, and addresses. */
import { isIPv6 } from 'node:net';
import type { SensitiveMatch } from '../redaction.ts';
import { mod97, nationalIds, passesLuhn } from './national-ids.ts';

const maxUnits = 46;
const leastUnits = 7;
/** Of anything that is looked for: a British insurance number has six, what begins with a digit seven. */
const leastDigits = 6;
const digit = 1;
const capital = 2;
const joint = 3;
const other = 4;
const plus = 5;
const word = 6;
const kindOf = Uint8Array.from({ length: 256 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/\d/.test(char)) return digit;
  if (/[A-Z]/.test(char)) return capital;
  if (/[a-z_]/.test(char)) return word;
  if (char === '+') return plus;
  return /[ ()./-]/.test(char) ? joint : other;
});
const cardForm = /\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}(\1?\d{1,3})?|3\d{3}([ -]?)\d{6}\3\d{4,5}/y;
const ibanForm = /[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)/y;
const dateForm = /^(?:19|20)\d\d-[01]\d-[0-3]\d[T ]/;
const dateLength = 10;
const contextLength = 48;

/** Lengths by country (SWIFT IBAN registry). */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Card numbers, IBAN, national numbers and telephone numbers in bytes and their latin1 text. */
export function findNumbers(bytes: Uint8Array, text: string): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  const { length } = bytes;
  let least = 0;
  for (let at = 0; at < length; at += 1) {
    if (((bytes[at] as number) - 48) >>> 0 > 9) continue;
    // What goes on like a number: digits and capitals, at most two joints between them.
    let digits = 1;
    let units = 1;
    let end = at + 1;
    let dots = 0;
    let others = 0;
    for (let next = end, joints = 0; next < length && units < maxUnits; next += 1) {
      const kind = kindOf[bytes[next] as number] as number;
      if (kind > joint) break;
      if (kind === joint) {
        joints += 1;
        if (joints > 2) break;
        continue;
      }
      if (kind === digit) digits += 1;
      units += 1;
      if (joints === 1 && bytes[next - 1] === 46) dots += 1;
      else others += joints;
      joints = 0;
      end = next + 1;
    }
    // One dot among digits alone is a decimal number.
    if (digits >= leastDigits && (dots !== 1 || others > 0 || digits !== units)) {
      const isCut = units >= maxUnits;
      const start = spanStart(bytes, at, least);
      end = tryStarts(
        bytes,
        text,
        { at, start, end, digits: isCut ? Number.POSITIVE_INFINITY : digits },
        found,
      );
    }
    least = end;
    at = end - 1;
  }
  return found;
}

/**
 * Where what has its first digit at `at` begins: at a plus or a bracket, or at the letters of a country; behind `at`
 * inside of a word.
 */
function spanStart(bytes: Uint8Array, at: number, least: number): number {
  let start = at;
  const before = at > least ? bytes[at - 1] : 0;
  if (before === 43 || before === 40) return at - 1;
  if ((before === 32 || before === 45) && at - 1 > least && kindOf[bytes[at - 2] as number] === capital)
    start = at - 1;
  const most = Math.max(least, start - 6);
  while (start > most && kindOf[bytes[start - 1] as number] === capital) start -= 1;
  if (!isInWord(bytes, start) && bytes[start - 1] !== 46) return start;
  return isInWord(bytes, at) || bytes[at - 1] === 46 ? at + 1 : at;
}

interface Span {
  readonly start: number;
  /** Its first digit. */
  readonly at: number;
  readonly end: number;
  readonly digits: number;
}

/** Tries everything that may begin at a group of a span. Answers where to go on. */
function tryStarts(bytes: Uint8Array, text: string, span: Span, found: SensitiveMatch[]): number {
  const { start, end } = span;
  let left = start > span.at ? span.digits - 1 : span.digits;
  let covered = start;
  for (let at = start; at < end && left >= leastDigits; at += 1) {
    const kind = kindOf[bytes[at] as number];
    const isStart = kind === digit || kind === capital || kind === plus || bytes[at] === 40;
    if (isStart && at >= covered && !isInWord(bytes, at)) {
      // Too short for anything, unless the span was cut at its longest: then what begins here begins the next one.
      if (end - at < leastUnits) {
        if (at > start && left === Number.POSITIVE_INFINITY) return at;
        break;
      }
      if (isDate(text, at)) covered = at + dateLength;
      else if (left > leastDigits || kind === capital) {
        const match = matchNumber(text, at);
        if (match) {
          found.push(match);
          covered = match.end;
        }
      }
    }
    if (kind === digit) left -= 1;
  }
  // A number may reach beyond the span.
  return Math.max(end, covered);
}

function isInWord(bytes: Uint8Array, at: number): boolean {
  const kind = at === 0 ? other : kindOf[bytes[at - 1] as number];
  return kind === digit || kind === capital || kind === word;
}

function isDate(text: string, at: number): boolean {
  return text.charCodeAt(at + 4) === 45 && dateForm.test(text.slice(at, at + dateLength + 1));
}

function matchNumber(text: string, at: number): SensitiveMatch | undefined {
  // A fraction, an exponent or a longer dotted number has no meaning of this kind.
  if (at > 0 && /[.\d]/.test(text.charAt(at - 1)) && /\d/.test(text.charAt(at - 2))) return undefined;
  return matchIban(text, at) ?? matchCard(text, at) ?? matchNationalId(text, at) ?? matchPhone(text, at);
}

function matchIban(text: string, at: number): SensitiveMatch | undefined {
  ibanForm.lastIndex = at;
  const match = ibanForm.exec(text);
  const length = match && ibanLengths[match[0].slice(0, 2)];
  if (!match || length === undefined || length === null) return undefined;
  // The pattern may match a word too many: the exact length for the country decides.
  let taken = 0;
  let end = at;
  while (end < at + match[0].length && taken < length) {
    if (text.charAt(end) !== ' ') taken += 1;
    end += 1;
  }
  const compact = text.slice(at, end).replaceAll(' ', '');
  if (compact.length !== length || endsInside(text, end)) return undefined;
  if (mod97(compact.slice(4) + compact.slice(0, 4)) !== 1) return undefined;
  return { rule: 'iban', class: 'pii', start: at, end };
}

function matchCard(text: string, at: number): SensitiveMatch | undefined {
  cardForm.lastIndex = at;
  const match = cardForm.exec(text);
  if (!match) return undefined;
  // The last group may belong to the number or be the next one.
  for (const length of new Set([match[0].length, match[0].length - (match[2]?.length ?? 0)])) {
    const end = at + length;
    const digits = text.slice(at, end).replace(/[ -]/g, '');
    if (!endsInside(text, end) && isIssued(digits) && passesLuhn(digits) && !/^(\d)\1+$/.test(digits))
      return { rule: 'card-number', class: 'pii', start: at, end };
  }
  return undefined;
}

/** Issuer ranges of ISO/IEC 7812 with the lengths that go with them. */
function isIssued(digits: string): boolean {
  const { length } = digits;
  if (/^4/.test(digits)) return length === 16 || length === 19;
  if (/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(digits)) return length === 16;
  if (/^3[47]/.test(digits)) return length === 15;
  if (/^(?:30[0-5]|36|38|39)/.test(digits)) return length === 14;
  if (/^(?:6011|64[4-9]|65|35(?:2[89]|[3-8]))/.test(digits)) return length === 16;
  return /^62/.test(digits) && length >= 16;
}

const lettered = nationalIds.filter((one) => one.lettered);
const numbered = nationalIds.filter((one) => !one.lettered);

function matchNationalId(text: string, at: number): SensitiveMatch | undefined {
  let before: string | undefined;
  for (const { rule, form, isValid, near } of /[A-Z]/.test(text.charAt(at)) ? lettered : numbered) {
    form.lastIndex = at;
    const match = form.exec(text);
    if (!match || endsInside(text, at + match[0].length)) continue;
    if (near) {
      before ??= text.slice(Math.max(0, at - contextLength), at);
      if (!near.test(before)) continue;
    }
    const compact = rule === 'fi-hetu' ? match[0] : match[0].replace(/[ .+-]/g, '');
    if (isValid(compact)) return { rule, class: 'pii', start: at, end: at + match[0].length };
  }
  return undefined;
}

function endsInside(text: string, end: number): boolean {
  return (
    /[A-Za-z0-9_]/.test(text.charAt(end)) || (text.charAt(end) === '.' && /\d/.test(text.charAt(end + 1)))
  );
}

/** E.164: a plus, a country code and a subscriber number, 8 to 15 digits in all, in groups. */
const international = /\+[1-9](?:[ ()./-]{0,2}\d){7,14}/y;
/** North American numbers: neither area nor exchange begins with 0 or 1. */
const northAmerican = /(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}/y;
const french = /0[1-9](?:[ .-]\d{2}){4}/y;
const british = /0(?:2\d \d{4} \d{4}|1\d1 \d{3} \d{4}|\d{4} \d{6}|7\d{3} \d{6})/y;
/** Any number after a word that marks it as a telephone number. */
const named = /\(?\d(?:[ ()./-]{0,2}\d){6,14}/y;
const phoneWords =
  /(?:\btel\b|tel(?:e(?:ph|f)on)?[a-z\u00e9]{0,3}|phone|\bfon\b|mobil[a-z]{0,4}|\bcell\b|\bfax\b|handy|rufnummer)(?:[ _-]?(?:no|nr|num(?:ber|mer|ero)?))?["'\]]{0,2}[ .:=#]{0,4}["']?$/i;

/** Matches a telephone number that begins at `at`. Numbers of the 555-01xx block are never assigned. */
function matchPhone(text: string, at: number): SensitiveMatch | undefined {
  const before = text.slice(Math.max(0, at - 32), at);
  for (const form of [international, northAmerican, french, british, named]) {
    if (form === named && !phoneWords.test(before)) continue;
    form.lastIndex = at;
    const match = form.exec(text);
    if (!match || /[\w]/.test(text.charAt(at + match[0].length))) continue;
    // A longer dotted or dashed number is something else: a version, a serial number.
    if (
      form !== international &&
      form !== named &&
      /[-.]\d/.test(text.slice(at + match[0].length, at + match[0].length + 2))
    )
      continue;
    const reserved = /555[-. ]?01\d\d$/.test(match[0]);
    return {
      rule: 'phone',
      class: 'pii',
      start: at,
      end: at + match[0].length,
      ...(reserved ? { reserved } : {}),
    };
  }
  return undefined;
}

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** Four octets, and no fifth. */
const ipv4Form = new RegExp(`(?<![\\w.])${octet}(?:\\.${octet}){3}(?![\\w]|\\.\\d)`, 'g');
/** Four numbers behind one of these are a version. */
const versionBefore = /(?:\bv|version|release|(?<!:\/)\/|@|-)[ :=]{0,3}$/i;
/** Global unicast addresses begin with 2 or 3 (RFC 4291). */
const ipv6Form = /(?<![\w:.])[23][0-9a-fA-F]{3}:[0-9a-fA-F:]{2,34}(?![\w:])/g;

/**
 * Not one that machines give themselves: private, loopback, link-local, shared, multicast, reserved, or for documents
 * (RFC 6890, 5737).
 */
function isPublicIpv4(address: string): boolean {
  const [a = 0, b = 0, c = 0] = address.split('.').map(Number);
  if (a === 0 || a === 10 || a === 127 || a >= 224) return false;
  if ((a === 169 && b === 254) || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168)) return false;
  if ((a === 100 && b >= 64 && b <= 127) || (a === 198 && (b === 18 || b === 19))) return false;
  if (a === 192 && b === 0 && (c === 0 || c === 2)) return false;
  return !((a === 198 && b === 51 && c === 100) || (a === 203 && b === 0 && c === 113));
}

/** Public addresses of both versions in latin1 text. */
export function findIpAddresses(text: string): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  const add = (address: string, start: number): void => {
    found.push({ rule: 'ip-address', class: 'pii', start, end: start + address.length });
  };
  for (const { 0: address, index } of text.matchAll(ipv4Form)) {
    if (isPublicIpv4(address) && !versionBefore.test(text.slice(Math.max(0, index - 12), index)))
      add(address, index);
  }
  for (const { 0: address, index } of text.matchAll(ipv6Form)) {
    if (isIPv6(address) && !/^2001:0?db8:/i.test(address)) add(address, index);
  }
  return found;
}

const maxLocal = 64;
const domainForm = /(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w@]|-\w)/y;
/** Ends of file names that look like a domain: `icon@2x.png`, `pkg@latest.js`. */
const fileEndings =
  /\.(?:png|jpe?g|gif|svg|webp|ico|js|mjs|cjs|ts|tsx|jsx|json|css|map|py|rb|go|rs|java|kt|md|txt|html?|xml|ya?ml|toml|lock|tgz|zip|gz|whl|exe|dll|so)$/i;
/** `1.1.0.rc`, `5.6.15.Final`: `package@version` has the form of an e-mail address. */
const versionForm =
  /^v?\d{1,9}(?:\.\d{1,9}){1,4}[-+.]?(?:a|alpha|b|beta|build|canary|cr|dev|edge|experimental|final|ga|insiders?|latest|lts|m|milestone|next|nightly|post|pre|preview|rc|release|snapshot|sp|stable)(?![A-Za-z])/i;
const machineNames = /^(?:git|hg|svn|ssh|noreply|no-reply|donotreply)$/i;
const reservedDomain = /(?:^|\.)(?:example(?:\.(?:com|org|net))?|test|invalid|localhost|local)$/i;

/**
 * Finds e-mail addresses in latin1 text; a local part in UTF-8 is matched as a whole. `git@host:path` is a machine's
 * address.
 */
export function findEmails(text: string): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    domainForm.lastIndex = at + 1;
    const domain = domainForm.exec(text)?.[0];
    if (domain === undefined || fileEndings.test(domain) || versionForm.test(domain)) continue;
    let start = at;
    while (start > 0 && at - start < maxLocal && isLocal(text.charCodeAt(start - 1))) start -= 1;
    while (start < at && text.charAt(start) === '.') start += 1;
    const local = text.slice(start, at);
    // What a colon or two slashes lead to is a password in an address of a service.
    if (
      local === '' ||
      machineNames.test(local) ||
      /:\/\/[^\s@/]{0,128}$/.test(text.slice(Math.max(0, start - 132), start))
    )
      continue;
    const reserved = reservedDomain.test(domain);
    found.push({
      rule: 'email',
      class: 'pii',
      start,
      end: at + 1 + domain.length,
      ...(reserved ? { reserved } : {}),
    });
  }
  return found;
}

/** Letters, digits, bytes of UTF-8 and the marks that people use; RFC 5322 has more, which code uses too. */
function isLocal(code: number): boolean {
  if (code >= 128) return true;
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    '._%+-'.includes(String.fromCharCode(code))
  );
}
