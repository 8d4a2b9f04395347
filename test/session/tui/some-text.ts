import { type Line, span, type Tone } from '../../../session/screen/line.ts';

/** What text is made of that terminals and people count differently. */
const pieces = [
  'a',
  'word',
  'longer-words',
  ' ',
  ' ',
  '  ',
  '漢字',
  'かな',
  '한국어',
  'é',
  'e\u0301',
  'n\u0303\u0323',
  '…',
  '│',
  '😀',
  '👍🏽',
  '👨‍👩‍👧',
  '🇩🇪',
  '❤️',
  '1️⃣',
  'नमस्ते',
  'क्ष',
  'ไทย',
  'العربية',
  '\u200b',
  'https://example.org/a/long/path/without/any/blank/in/it?and=more',
];
const tones: readonly Tone[] = ['plain', 'plain', 'plain', 'strong', 'added', 'warn', 'selected', 'code'];

/** Chance of a test: numbers from 0 to below 1. */
export type Chance = () => number;

export function oneOf<T>(chance: Chance, values: readonly T[]): T | undefined {
  return values[Math.floor(chance() * values.length)];
}

export function someText(chance: Chance, most: number): string {
  const count = Math.floor(chance() * most);
  return Array.from({ length: count }, () => oneOf(chance, pieces) ?? '').join('');
}

/** A line of a few spans; the first begins with a letter, so that it is not empty. */
export function someLine(chance: Chance, most: number): Line {
  const count = 1 + Math.floor(chance() * 3);
  return Array.from({ length: count }, (_, at) => {
    const text = someText(chance, most);
    return span(at === 0 ? `x${text}` : text, oneOf(chance, tones) ?? 'plain');
  });
}
