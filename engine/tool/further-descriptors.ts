import { openSync } from 'node:fs';
import { inheritedDescriptors } from './inherited-descriptors.ts';

let inherited: readonly number[] | undefined;
let nothing: number | undefined;

/**
 * Descriptors from 3: the announcement, then `passed`, and nothing in place of what we inherited ourselves: a child
 * must not get our parent's files.
 */
export function furtherDescriptors(
  announces: boolean,
  passed: readonly number[],
): ('pipe' | 'ignore' | number)[] {
  inherited ??= inheritedDescriptors();
  const further: ('pipe' | 'ignore' | number)[] = announces ? ['pipe', ...passed] : [...passed];
  const taken = further.length;
  for (const descriptor of inherited) {
    nothing ??= openSync('/dev/null', 'r+');
    while (further.length < descriptor - 3) further.push('ignore');
    if (descriptor - 3 >= taken) further[descriptor - 3] = nothing;
  }
  return further;
}
