import { askGit, type GitDirectory } from './git.ts';

/**
 * Whether a file of the tree holds the text, byte for byte. What cannot be searched may hold it: only a plain no is a
 * no.
 */
export async function treeMentions(
  place: GitDirectory,
  tree: string,
  text: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const asked = ['grep', '--quiet', '--text', '--fixed-strings', '-e', text, tree, '--'];
  const { code } = await askGit(place, asked, signal === undefined ? {} : { signal });
  return code !== 1;
}
