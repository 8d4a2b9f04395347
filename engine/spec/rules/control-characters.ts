import { appendPointer } from '../../../core/base/json-pointer.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

const control = /[\p{Cc}\u2028\u2029]/u;

/**
 * Ids, names, labels and the summary end up in titles, refs, prompts and terminals: they hold no control characters or
 * line breaks.
 */
export function controlCharacters(spec: Partly<IntentSpec>): readonly Issue[] {
  const { createdBy, target } = spec.metadata ?? {};
  const named: readonly (readonly [string, string | undefined])[] = [
    ['/metadata/id', spec.metadata?.id],
    ['/metadata/createdBy/id', createdBy?.id],
    ['/metadata/target/workspaceId', target?.workspaceId],
    ...Object.entries(target?.labels ?? {}).map(
      ([key, value]) => [appendPointer('/metadata/target/labels', key), `${key} ${value}`] as const,
    ),
    ['/intent/summary', spec.intent?.summary],
    ...checksOf(spec).map(({ path, check }) => [`${path}/id`, check.id] as const),
  ];
  return named
    .filter(([, text]) => text !== undefined && control.test(text))
    .map(([path]) =>
      error('SEMANTIC_CONTROL_CHARACTER', path, 'expected one line of text, found a control character'),
    );
}
