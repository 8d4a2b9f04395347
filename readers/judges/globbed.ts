import type { JudgedTree } from './named.ts';
import { pathGlob } from './path-glob.ts';

/** Files of the tree that a glob from its root takes; a path without stars takes itself. */
export function globbed(glob: string, tree: JudgedTree): readonly string[] {
  if (!/[*?]/.test(glob)) return tree.isFile(glob) ? [glob] : [];
  const form = pathGlob(glob);
  const root = glob.slice(0, glob.search(/[*?]/)).replace(/\/?[^/]*$/, '');
  return form === undefined ? [] : tree.under(root).filter((path) => form.test(path));
}
