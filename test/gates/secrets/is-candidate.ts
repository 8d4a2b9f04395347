import type { PatchFile } from '../../../core/interfaces/patch-set.ts';
import type { RuleInput } from '../../../core/interfaces/rule-input.ts';
import { candidates } from '../../../gates/rules/secrets.ts';
import { createAnchorSearch } from '../../../readers/anchors/anchor-search.ts';

const search = createAnchorSearch(candidates.anchors.map((anchor) => [undefined, anchor]));

/** Whether the rule `secrets` has to be asked about a file, as a scan finds out. */
export function isCandidate(input: RuleInput, file: PatchFile): boolean {
  const answer = candidates.begin(input, file);
  if (typeof answer !== 'function') return answer;
  let found = false;
  search.scan(input.patch.diff, file.start, file.end, (_, at) => {
    found = answer(at);
    return found;
  });
  return found;
}
