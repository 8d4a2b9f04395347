import { codedForms } from '../../readers/sensitive/coded-forms.ts';

/** A shorter value is a word, and would be found everywhere. */
const leastLength = 8;
const mark = '*';

/** Puts as many marks in the place of known values, so that lengths and cuts stay what they were. */
export interface ValueMask {
  bytes(found: Uint8Array): Buffer;
  text(found: string): string;
  /** Strings and names of a JSON value. */
  json(found: unknown): unknown;
}

/**
 * Masks values of at least eight characters wherever they stand, plain, as JSON and a URL write them, in base64 (at any
 * alignment) and in hexadecimal.
 */
export function maskValues(values: readonly string[]): ValueMask {
  const forms = [
    ...new Set(values.filter((value) => value.length >= leastLength).flatMap((value) => formsOf(value))),
  ].sort((one, other) => other.length - one.length);
  const octets = forms.map((form) => Buffer.from(form));
  const text = (found: string): string =>
    forms.reduce((all, form) => all.replaceAll(form, mark.repeat(form.length)), found.toWellFormed());
  const json = (found: unknown): unknown => {
    if (typeof found === 'string') return text(found);
    if (Array.isArray(found)) return found.map(json);
    if (typeof found !== 'object' || found === null) return found;
    return Object.fromEntries(Object.entries(found).map(([name, value]) => [text(name), json(value)]));
  };
  return {
    text,
    json,
    bytes(found) {
      const masked = Buffer.from(found);
      for (const form of octets)
        for (let at = masked.indexOf(form); at >= 0; at = masked.indexOf(form, at + form.length))
          masked.fill(mark, at, at + form.length);
      return masked;
    },
  };
}

function formsOf(value: string): readonly string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value.toWellFormed(), escaped, escaped.replaceAll('/', '\\/'), ...codedForms(Buffer.from(value))];
}
