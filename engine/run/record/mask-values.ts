import { codedForms } from '../../../readers/sensitive/coded-forms.ts';
import { mask } from './mask-patch.ts';

/**
 * Bytes without any of these values, as they are and in hex, URL-encoded, or in base64 or base64url at any offset of a
 * longer text; the longest are taken first.
 */
export function maskValues(bytes: Uint8Array, values: readonly Buffer[]): Uint8Array {
  let text = Buffer.from(bytes).toString('latin1');
  for (const value of values)
    for (const form of formsOf(value))
      text = isShort(value) ? maskAlone(text, form) : text.replaceAll(form, mask);
  return Buffer.from(text, 'latin1');
}

/** The same of words, for the value as it is. */
export function maskWords(words: string, values: readonly Buffer[]): string {
  return values.reduce((text, value) => {
    const form = value.toString('utf8');
    return isShort(value) ? maskAlone(text, form) : text.replaceAll(form, mask);
  }, words);
}

/** A function that takes these values out of words, in every form that words can hold them in. */
export function wordMask(values: readonly string[]): (words: string) => string {
  const forms = values.flatMap((value) => {
    if (isShort(value)) return [];
    return [value, JSON.stringify(value).slice(1, -1), ...codedForms(Buffer.from(value))];
  });
  const longest = [...new Set(forms)].sort((one, other) => other.length - one.length);
  const alone = values.filter(isShort);
  return (words) =>
    alone.reduce(
      maskAlone,
      longest.reduce((text, form) => text.replaceAll(form, mask), words),
    );
}

/** A few characters stand in many a longer word, number or digest that has nothing to do with them. */
function isShort({ length }: { readonly length: number }): boolean {
  return length < 8;
}

function maskAlone(text: string, form: string): string {
  const escaped = form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return text.replace(new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, 'g'), mask);
}

function formsOf(value: Buffer): ReadonlySet<string> {
  const plain = value.toString('latin1');
  return new Set(isShort(value) ? [plain] : [plain, ...codedForms(value)]);
}
