import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/** Check ids are unique over all four lists; the later one is at fault. */
export function checkIdsUnique(spec: Partly<IntentSpec>): readonly Issue[] {
  const first = new Map<string, string>();
  return checksOf(spec).flatMap(({ path, check: { id } }) => {
    if (id === undefined) return [];
    const earlier = first.get(id);
    if (earlier !== undefined) {
      return [
        error(
          'SEMANTIC_CHECK_ID_DUPLICATE',
          `${path}/id`,
          `expected an id of its own, found ${quoted(id)} as at \`${earlier}\``,
        ),
      ];
    }
    first.set(id, path);
    return [];
  });
}
