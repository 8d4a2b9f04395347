/** A pattern relative to the repository root, POSIX; `undefined` for what names no place inside it. */
export function normalisePattern(token: string): string | undefined {
  const text = token.replace(/^(\.\/)+/, '');
  if (text === '' || text.startsWith('/') || text.includes('\0') || text.includes('\\')) return undefined;
  const segments = text.replace(/\/$/, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return undefined;
  return text;
}
