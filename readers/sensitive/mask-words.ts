import { codedForms } from './encoded-text.ts';

/** Stands for a masked value. */
export const mask = '[masked: secrets]';

/** Returns a function that masks these values in text, in every encoding that text can hold. */
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

/** A short value also occurs inside longer words, numbers and digests by chance. */
export function isShort({ length }: { readonly length: number }): boolean {
  return length < 8;
}

export function maskAlone(text: string, form: string): string {
  const escaped = form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return text.replace(new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, 'g'), mask);
}
