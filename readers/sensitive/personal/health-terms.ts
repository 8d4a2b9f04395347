import type { SensitiveMatch } from '../redaction.ts';

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
 * Diagnoses and medicines, at places where `healthHeads` stand in order, on a line that also names a person: by an
 * identifier that was found, or as patient, Mr, Mrs.
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
