import { askGit, type GitDirectory } from './git.ts';

/**
 * Whether a file of the tree holds one of the texts, byte for byte. What cannot be searched may hold it: only a plain
 * no is a no. `words`: names of files, such as `*.lock`, in any directory; then a text counts only as a whole name of a
 * package, in any case.
 */
export async function treeMentions(
  place: GitDirectory,
  tree: string,
  texts: readonly string[],
  { words = [], signal }: { readonly words?: readonly string[]; readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const asked = ['grep', '--quiet', '--text'];
  asked.push(...(words.length > 0 ? ['--extended-regexp', '--ignore-case'] : ['--fixed-strings']));
  const patterns = words.length > 0 ? texts.map(wholeWord) : texts;
  asked.push(...patterns.flatMap((pattern) => ['-e', pattern]), tree, '--');
  asked.push(...words.map((name) => `:(glob)**/${name}`));
  const { code } = await askGit(place, asked, {
    ...(words.length > 0 ? { env: { GIT_LITERAL_PATHSPECS: '0' } } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
  return code !== 1;
}

/** `left` is no whole word of `left-pad`; `jest` is one of `node_modules/jest`. */
function wholeWord(text: string): string {
  const literal = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `(^|[^[:alnum:]_.-])${literal}([^[:alnum:]_.-]|$)`;
}
