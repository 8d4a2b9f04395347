/**
 * Tells paths that a glob of the tree takes: `*`, `?`, `**`; `undefined` for one that is too long or has more than four
 * stars.
 */
export function pathGlob(glob: string): RegExp | undefined {
  if (glob.length > 300 || (glob.match(/\*/g) ?? []).length > 4) return undefined;
  const form = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/?/g, '\u0000')
    .replace(/\*/g, '[^/]*')
    .replace(/\?/g, '[^/]')
    .replaceAll('\u0000', '(?:.*/)?');
  return new RegExp(`^${form}$`);
}
