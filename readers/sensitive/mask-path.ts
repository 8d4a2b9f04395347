import { redactTexts } from './redact-texts.ts';

/** Nothing that short is a secret. */
const minLength = 20;

/** A path as it may be written down: a name is written wherever the file is, so a token in it is taken out. */
export function maskPath(path: string): string {
  return path.length < minLength ? path : redactTexts(path, { remove: ['secrets'], words: {} });
}
