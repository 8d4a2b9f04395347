/* Finds personal data by the words before it. */
import type { SensitiveMatch } from '../redaction.ts';
import { weighted } from './national-ids.ts';

/** First four letters of every word that something may follow; each also with a capital and in capitals. */
const stems = (
  'dob:|dob=|dob"|dob\'|dob |birt|born|gebo|gebu|nais|n\xc3\xa9 |naci|nasc|mrn:|mrn |mrn=|mrn#|mrn"|mrn\'|' +
  'medi|pati|nhs |nhs:|nhs=|nhs_|nhs-|nhs"|icd-|icd1|icd_|icd |icd:|diag|pres|hosp|clin|trea'
).split('|');
const markings = 'CONF|INTE|STRI|TLP:|COMP|FOR |NOT |PROP|VERT|NUR |Conf|Inte|Stri'.split('|');
/** Heads of four characters at which `findWorded` looks. */
export const wordedHeads: readonly string[] = [
  ...new Set([
    ...stems.flatMap((stem) => [stem, stem.charAt(0).toUpperCase() + stem.slice(1), stem.toUpperCase()]),
    ...markings,
  ]),
];

const date =
  '(?:\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}|\\d{1,2}[-/. ]{1,2}\\d{1,2}[-/. ]{1,2}(?:\\d{4}|\\d{2})(?!\\d)|\\d{1,2}(?:st|nd|rd|th|\\.)? [A-Za-z]{3,9}\\.?,? \\d{4}|[A-Za-z]{3,9}\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}|(?:19|20)\\d{6}(?!\\d))';
const gap = '[\\w ]{0,12}["\'\\]>\\\\]{0,3}[ \\t:=#(-]{0,4}["\'\\\\]{0,2}';
const birth = new RegExp(
  `(?:dob|(?:date[ _-]of[ _-])?birth(?:[ _-]?(?:date|day))?|born|geboren|geb(?:urts)datum|n\xc3\xa9e?|naissance|nacid[oa]|nacimiento|nascita|nascimento)${gap}(?<!\\d)(${date})`,
  'iy',
);
const record =
  /(?:mrn|medical[ _-]?record(?:[ _-]?(?:no|nr|number|id))?|patient[ _-]?(?:id|no|nr|number))["'\]>\\]{0,3}[ \t:=#.-]{1,4}["'\\]{0,2}((?=[A-Z-]{0,6}\d)[A-Z0-9][A-Z0-9-]{4,14})(?![\w-])/iy;
const nhs =
  /nhs(?:[ _-]?(?:no|nr|number|id))?["'\]>\\]{0,3}[ \t:=#.-]{0,4}["'\\]{0,2}(\d{3}[ -]?\d{3}[ -]?\d{4})(?!\d)/iy;
const codeWords =
  /(?:icd(?:[ _-]?10)?(?:[ _-]?(?:cm|gm|code))?|diagnos[a-z]{1,4}|patients?|prescri[a-z]{1,6}|hospital[a-z]{0,6}|clinical|treat(?:ed|ment)|medical)/iy;
const code = /(?<![\w.-])[A-TV-Z]\d[0-9AB](?:\.[0-9A-TV-Z]{1,4})?(?![\w-]|\.\w)/g;

/**
 * Finds values after key words, at the ordered offsets of `wordedHeads`: dates of birth, health numbers and codes.
 * Also finds text that is marked internal or confidential.
 */
export function findWorded(text: string, places: readonly number[]): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  /** End of the marked paragraph under way. */
  let covered = 0;
  for (const at of places) {
    const marked = at < covered ? undefined : matchMarking(text, at);
    if (marked) {
      found.push(marked);
      covered = marked.end;
    }
    if (isLetter(text.charCodeAt(at - 1))) continue;
    push(found, text, at, birth, 'date-of-birth', 'pii');
    push(found, text, at, record, 'medical-record-number', 'phi');
    push(found, text, at, nhs, 'nhs-number', 'phi', isNhsNumber);
    pushCodes(found, text, at);
  }
  return found;
}

function push(
  found: SensitiveMatch[],
  text: string,
  at: number,
  form: RegExp,
  rule: string,
  dataClass: 'pii' | 'phi',
  isValid: (value: string) => boolean = () => true,
): void {
  form.lastIndex = at;
  const match = form.exec(text);
  const value = match?.[1];
  if (!match || value === undefined || !isValid(value)) return;
  const end = at + match[0].length;
  found.push({ rule, class: dataClass, start: end - value.length, end });
}

/** Modulus 11 over the first nine digits; a check of 10 is never given. */
function isNhsNumber(value: string): boolean {
  const digits = value.replace(/[ -]/g, '');
  const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return check !== 10 && check % 11 === Number(digits[9]);
}

/** ICD-10 codes on the rest of the line behind a word of health care, at most 100 characters on. */
function pushCodes(found: SensitiveMatch[], text: string, at: number): void {
  codeWords.lastIndex = at;
  const word = codeWords.exec(text);
  if (!word) return;
  const from = at + word[0].length;
  const window = text.slice(from, from + 100);
  const line = window.slice(0, window.indexOf('\n') < 0 ? window.length : window.indexOf('\n'));
  const isNamed = /^(?:icd|diag)/i.test(word[0]);
  for (const match of line.matchAll(code)) {
    // Three characters without a dot are a code only after a word that announces codes.
    if (!isNamed && !match[0].includes('.')) continue;
    // Two words before one code.
    if (found.slice(-8).some(({ start }) => start === from + match.index)) continue;
    found.push({
      rule: 'icd-10',
      class: 'phi',
      start: from + match.index,
      end: from + match.index + match[0].length,
    });
  }
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

const confidential =
  /(?:STRICTLY CONFIDENTIAL|Strictly Confidential|(?:COMPANY|COMMERCIAL IN|COMMERCIAL-IN-) ?CONFIDEN(?:TIAL|CE)|CONFIDENTIAL(?: AND PROPRIETARY| - .{0,40}| INFORMATION)?|Confidential(?= (?:-|information|and proprietary))|TLP:AMBER(?:\+STRICT)?|TLP:RED|VERTRAULICH|PROPRIETARY AND CONFIDENTIAL)(?![\w'"`(.=-])/y;
const internal =
  /(?:(?:FOR )?INTERNAL (?:USE(?: ONLY)?|ONLY)|Internal (?:use )?only(?=[^\w]|$)|COMPANY INTERNAL|TLP:GREEN|NOT FOR (?:PUBLIC RELEASE|DISTRIBUTION|EXTERNAL USE)|NUR (?:F\xc3\x9cR DEN INTERNEN GEBRAUCH|INTERN))(?![\w'"`(.=-])/y;
/** Before a marking, only characters of comments, quotes and lists, or the word `classification`, are allowed. */
const before = /(?:^|[\n\r"'>]|classification["']?\s{0,2}[:=])[ \t#*/>|=!;[\](){}<"'`-]{0,24}$/i;
const maxParagraph = 48 * 1024;

/** A marking at `at`, and what it covers: its paragraph, from the marking up to an empty line. */
function matchMarking(text: string, at: number): SensitiveMatch | undefined {
  for (const [form, dataClass] of [
    [confidential, 'confidential'],
    [internal, 'internal'],
  ] as const) {
    form.lastIndex = at;
    const match = form.exec(text);
    if (!match || !before.test(text.slice(Math.max(0, at - 40), at))) continue;
    return { rule: 'marking', class: dataClass, start: at, end: paragraphEnd(text, at + match[0].length) };
  }
  return undefined;
}

function paragraphEnd(text: string, from: number): number {
  const rest = text.slice(from, from + maxParagraph);
  const blank = /\r?\n[ \t]{0,80}\r?\n/.exec(rest);
  return from + (blank ? blank.index : rest.length - (rest.endsWith('\n') ? 1 : 0));
}

/** Frequent diagnoses and medicines. A list, not knowledge: what is not on it is not found. */
const terms = (
  'diabetes,hypertension,asthma,epilepsy,schizophrenia,depression,bipolar disorder,dementia,alzheimer,' +
  'parkinson,leukemia,leukaemia,lymphoma,melanoma,carcinoma,tuberculosis,hepatitis,hiv positive,' +
  'hiv-positive,hiv infection,copd,multiple sclerosis,pneumonia,pregnancy,metformin,insulin,lisinopril,' +
  'atorvastatin,simvastatin,levothyroxine,amlodipine,metoprolol,omeprazole,losartan,sertraline,' +
  'fluoxetine,citalopram,escitalopram,quetiapine,olanzapine,risperidone,lithium carbonate,warfarin,' +
  'apixaban,prednisone,methotrexate,oxycodone,morphine,methadone,buprenorphine,ritalin,methylphenidate,' +
  'amoxicillin,gabapentin,clonazepam,diazepam'
).split(',');
const form = new RegExp(`(?:${terms.join('|')})(?![a-z])`, 'iy');
/** Heads of four characters at which `findHealthTerms` looks. */
export const healthHeads: readonly string[] = [
  ...new Set(
    terms.flatMap((term) => {
      const head = term.slice(0, 4);
      return [head, head.charAt(0).toUpperCase() + head.slice(1), head.toUpperCase()];
    }),
  ),
];
const person =
  /patient(?:['\u2019]?s)?(?:[ _-]?name)?["']?\s{0,2}[:=]|\b(?:Mr|Mrs|Ms|Dr|Herr|Frau)\.? [A-Z][a-z]/;
const reach = 200;

/**
 * Finds diagnoses and medicines at the ordered offsets of `healthHeads`, on a line that also names a person. An
 * identifier that was found, or the words patient, Mr or Mrs, name a person.
 */
export function findHealthTerms(
  text: string,
  places: readonly number[],
  identifiers: readonly SensitiveMatch[],
): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  let first = 0;
  for (const at of places) {
    form.lastIndex = at;
    const match = form.exec(text);
    if (!match) continue;
    // Only near by: a search for the ends of a long line would cost its whole length each time.
    const least = Math.max(0, at - reach);
    const from = least + text.slice(least, at).lastIndexOf('\n') + 1;
    const ahead = text.slice(at, at + reach);
    const to = at + (ahead.includes('\n') ? ahead.indexOf('\n') : ahead.length);
    while ((identifiers[first]?.end ?? Number.POSITIVE_INFINITY) < at - reach) first += 1;
    const isNear = identifiers.slice(first, first + 32).some(({ start, end }) => start < to && end > from);
    if (isNear || person.test(text.slice(from, to)))
      found.push({ rule: 'health-term', class: 'phi', start: at, end: at + match[0].length });
  }
  return found;
}
