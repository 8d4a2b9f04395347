import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

const form = /^refs\/(?:ai|x-[A-Za-z0-9][A-Za-z0-9-]{0,62})\/(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\/){0,8}$/;

/** aiRefPrefix lies under `refs/ai/` or `refs/x-…/` and ends in `/`: never where branches or tags are. */
export function aiRefPrefix(spec: Partly<IntentSpec>): readonly Issue[] {
  const prefix = spec.objmodel?.objectStore?.aiRefPrefix;
  if (prefix === undefined || form.test(prefix)) return [];
  return [
    error(
      'SEMANTIC_AI_REF_PREFIX',
      '/objmodel/objectStore/aiRefPrefix',
      `expected \`refs/ai/\` or \`refs/x-…/\`, or a folder under them ending in \`/\`, found ${quoted(prefix)}`,
    ),
  ];
}
