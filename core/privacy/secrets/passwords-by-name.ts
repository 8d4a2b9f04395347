import type { SecretMatch } from './secret-match.ts';

/** `host:port:database:user:password` (PostgreSQL); nothing in a line says what it is. */
const passwordFile = /(?:^|\/)(?:\.pgpass|pgpass\.conf)$/i;
const passwordLine = /^(?!#)(?:(?:[^:\\\n]|\\.){1,200}:){4}([^\n]{1,256})$/gm;

/** A file whose name alone says that there are passwords in it. */
export function isNamedForPasswords(path: string): boolean {
  return passwordFile.test(path);
}

/** The passwords of a file whose name says that it holds some; none for any other. Offsets are those of `text`. */
export function passwordsByName(path: string, text: string): readonly SecretMatch[] {
  if (!isNamedForPasswords(path)) return [];
  return [...text.matchAll(passwordLine)].map(({ 0: { length }, 1: value = '', index }) => ({
    rule: 'pgpass-password',
    kind: 'context',
    start: index + length - value.length,
    end: index + length,
  }));
}
