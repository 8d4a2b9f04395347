/* Decides whether a spec permits the removal of tests. */
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { PatchFile } from '../core/interfaces/patch-set.ts';

/** Words in a clause that allow tests to be removed. */
export const goes =
  /\b(?:remov|delet|drop|skip|disabl|quarantin|retir|replac|renam|rewrit|merg|consolidat|mov|migrat|get rid|obsolete)/i;
const verbs = new RegExp(goes, 'gi');
/** What ends what a verb speaks of: the name behind it is that of something that stays. */
const keeps =
  /\b(?:so that|such that|keep|keeping|while|but|without|until|still|verif|check|cover|pass|see|like|per|except|unlike|tested (?:by|in|with))/i;
const staysSo = /^\W{0,3}\s*(?:still|stays?|remains?|keeps?|passes|is (?:still )?green)\b/i;
const isDone = /\b(?:is|are|be|gets?|goes|go)\b/i;
export const documentation =
  /(?:^|\/)(?:docs?|documentation|man)\/|\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt|po|pot)$|(?:^|\/)(?:README|CHANGELOG|LICEN[CS]E|NOTICE|AUTHORS|CONTRIBUTING|COPYING)[^/]*$/i;

/**
 * Whether the spec permits the removal of tests. It does in three cases:
 * - its changeType is `docs`, and only documentation and tests change;
 * - it is a `chore`, and only documentation changes;
 * - an objective that mentions removal names the tests, by file, directory or name.
 */
export function testsMayGo(
  { intent }: EffectiveIntentSpec,
  files: readonly PatchFile[],
  isOfTests: (file: PatchFile) => boolean,
): (path: string, name?: string) => boolean {
  const isDoc = ({ path }: PatchFile): boolean => documentation.test(path);
  if (intent.changeType === 'docs' && files.every((file) => isDoc(file) || isOfTests(file)))
    return () => true;
  if (intent.changeType === 'chore' && files.every(isDoc)) return () => true;
  return (path, name) => {
    const parts = path.split('/');
    const above = parts.slice(0, -1).map((_, at) => `${parts.slice(0, at + 1).join('/')}/`);
    const names = [path, parts.at(-1) ?? path, ...above, name ?? ''].filter(({ length }) => length >= 4);
    return intent.objectives.some((objective) => names.some((one) => speaksOfRemoval(objective, one)));
  };
}

/**
 * Matches `remove the tests in a.test.js` and `a.test.js is removed`. `a.test.js` does not match inside
 * `data.test.js`.
 */
function speaksOfRemoval(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    if (
      /[\w/.-]/.test(text[at - 1] ?? ' ') ||
      /[\w/-]|\.\w/.test(text.slice(end, end + 2).replace(/^[^\w/.-].*/s, ''))
    )
      continue;
    const before =
      text
        .slice(Math.max(0, at - 120), at)
        .split(/[;:!?]|\.\s/)
        .at(-1) ?? '';
    const after = text.slice(end, end + 60).split(/[;:!?]|\.(?:\s|$)/)[0] ?? '';
    const verb = [...before.matchAll(verbs)].at(-1);
    if (verb && !keeps.test(before.slice(verb.index)) && !staysSo.test(after)) return true;
    if (goes.test(after) && isDone.test(after)) return true;
  }
  return false;
}
