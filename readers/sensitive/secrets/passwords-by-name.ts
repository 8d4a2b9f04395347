import type { SecretMatch } from './secret-match.ts';

/** `host:port:database:user:password` (PostgreSQL); nothing in a line says what it is. */
const passwordFile = /(?:^|\/)(?:\.pgpass|pgpass\.conf)$/i;
const passwordLine = /^(?!#)(?:(?:[^:\\\n]|\\.){1,200}:){4}([^\n]{1,256})$/gm;

/** Fields of a `.netrc` come in any order, for a host or for every other one. */
const loginFile = /(?:^|\/)[._]?netrc$/i;
const loginField = /(?:^|[ \t])password[ \t]{1,40}"?([^\s"'`]{1,256})/gm;

/** A file whose name alone says that there are passwords in it. */
export function isNamedForPasswords(path: string): boolean {
  return passwordFile.test(path) || loginFile.test(path);
}

/** The passwords of a file whose name says that it holds some; none for any other. Offsets are those of `text`. */
export function passwordsByName(path: string, text: string): readonly SecretMatch[] {
  if (passwordFile.test(path)) return valuesOf('pgpass-password', passwordLine, text);
  return loginFile.test(path) ? valuesOf('netrc-password', loginField, text) : [];
}

/** Each value ends its match. */
function valuesOf(rule: string, form: RegExp, text: string): readonly SecretMatch[] {
  return [...text.matchAll(form)].map(({ 0: { length }, 1: value = '', index }) => ({
    rule,
    kind: 'context',
    start: index + length - value.length,
    end: index + length,
  }));
}
