import type { SensitiveMatch } from '../sensitive-match.ts';
import { mod97, passesLuhn } from './check-digits.ts';
import { nationalIds } from './national-ids.ts';
import { matchPhone } from './phone.ts';

/** A digit or a capital that begins something, and six places or more that go on like a number. */
const spanForm =
  /(?<![A-Za-z0-9_.])(?:\+|\(?(?=\d)|(?=[A-Z]{1,6}[ -]?\d))[A-Z]{0,6}(?:[ ()./-]{0,2}[0-9A-Z]){6,40}/g;
const groupStart = /(?<![A-Za-z0-9_])[A-Z0-9(+]/g;
const cardForm = /\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}(\1?\d{1,3})?|3\d{3}([ -]?)\d{6}\3\d{4,5}/y;
const ibanForm = /[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)/y;
const dateForm = /^(?:19|20)\d\d-[01]\d-[0-3]\d[T ]/;
const contextLength = 48;

/** Lengths by country (SWIFT IBAN registry). */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Card numbers, IBAN, national numbers and telephone numbers in latin1 text. */
export function findNumbers(text: string): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  spanForm.lastIndex = 0;
  for (let span = spanForm.exec(text); span; span = spanForm.exec(text)) {
    const end = span.index + span[0].length;
    let covered = span.index;
    let resume = end;
    groupStart.lastIndex = span.index;
    for (let start = groupStart.exec(text); start && start.index < end; start = groupStart.exec(text)) {
      if (start.index < covered) continue;
      if (end - start.index < 7) {
        // Too short for anything, unless the span was cut at its longest: then what begins here begins the next one.
        if (start.index > span.index) resume = start.index;
        break;
      }
      if (dateForm.test(text.slice(start.index, start.index + 11))) continue;
      const match = matchNumber(text, start.index);
      if (!match) continue;
      found.push(match);
      covered = match.end;
    }
    // A number may reach beyond the span.
    spanForm.lastIndex = Math.max(resume, covered);
  }
  return found;
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
  // The form may have taken a word too many: exactly the country's length counts.
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
