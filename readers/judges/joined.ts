/** A word as a path of the tree, seen from a directory; `undefined` where it leaves the tree. */
export function joined(from: string, word: string): string | undefined {
  if (word === '' || word.startsWith('/') || word.length > 1_000 || /[\n\0]/.test(word)) return undefined;
  const parts = from === '' ? [] : from.split('/');
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}
