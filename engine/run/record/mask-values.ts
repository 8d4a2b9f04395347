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

/** A few characters stand in many a longer word, number or digest that has nothing to do with them. */
function isShort({ length }: Buffer): boolean {
  return length < 8;
}

function maskAlone(text: string, form: string): string {
  const escaped = form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return text.replace(new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, 'g'), mask);
}

/**
 * What base64 makes of a value in the middle of other text: each of three alignments, without the characters at its
 * ends that others share.
 */
function shiftedForms(value: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const coded = Buffer.concat([Buffer.alloc(before), value]);
    const isOpen = coded.length % 3 !== 0;
    return (['base64', 'base64url'] as const).map((coding) => {
      const text = coded.toString(coding).replace(/=+$/, '');
      return text.slice(before === 0 ? 0 : before + 1, isOpen ? -1 : undefined);
    });
  });
}

function formsOf(value: Buffer): ReadonlySet<string> {
  if (isShort(value)) return new Set([value.toString('latin1')]);
  const hex = value.toString('hex');
  return new Set([
    value.toString('latin1'),
    value.toString('base64').replace(/=+$/, ''),
    value.toString('base64url'),
    ...shiftedForms(value),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(value.toString('utf8')),
  ]);
}
