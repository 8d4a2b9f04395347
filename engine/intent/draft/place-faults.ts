import { normalisePattern } from '../../../core/base/normalise-pattern.ts';
import { quoted } from '../../../core/base/quoted.ts';
import type { Scope } from '../../../core/contract/scope.ts';
import type { IntentDraft } from './intent-draft.ts';

/** Directories that no drafted contract opens: the repository itself, and what judges its changes. */
const closed = ['.git', '.writ'];

/** What is wrong with the places of a draft: outside of the repository, what judges it, and everything at once. */
export function placeFaults(
  { inScope, files }: Pick<IntentDraft, 'inScope' | 'files'>,
  scope: Scope,
): readonly string[] {
  const faults: string[] = [];
  const words = [...files, ...inScope.flatMap((entry) => entry.split(/\s+/u))].map(bare);
  for (const word of words) if (leadsOut(word)) faults.push(`${quoted(word)} is no place in the repository`);
  for (const file of files)
    if (normalisePattern(file.trim()) === undefined) faults.push(`${quoted(file)} is no path or glob`);
  if (scope.wholeRepository)
    faults.push('`inScope` names no path: name the files or directories that may change');
  for (const pattern of scope.write) {
    const [first = ''] = pattern.split('/');
    if (closed.includes(first.toLowerCase())) faults.push(`${quoted(pattern)} is not for a draft to open`);
    if (first === '**' || pattern === '*' || pattern === '*/' || first.startsWith('{'))
      faults.push(`${quoted(pattern)} is everything: name the directories that may change`);
  }
  return [...new Set(faults)];
}

function bare(word: string): string {
  return word.replace(/^[`'"(<]+/u, '').replace(/[`'">),;]+$/u, '');
}

/** Absolute, of a home, or above the repository. A slash alone is a word of prose. */
function leadsOut(word: string): boolean {
  return /^(?:\/.|~\/|[A-Za-z]:\\)/u.test(word) || /(?:^|[\\/])\.\.(?:[\\/]|$)/u.test(word);
}
