import { checksOf } from '../checks-of.ts';
import type { IntentSpec } from '../intentspec.gen.ts';
import { error, type Issue } from '../issue.ts';
import type { Partly } from '../partly.ts';

const control = /[\p{Cc}\u2028\u2029]/u;

/** id, summary and check ids end up in titles, refs and terminals: they hold no control characters or line breaks. */
export function controlCharacters(spec: Partly<IntentSpec>): readonly Issue[] {
  const named: readonly (readonly [string, string | undefined])[] = [
    ['/metadata/id', spec.metadata?.id],
    ['/intent/summary', spec.intent?.summary],
    ...checksOf(spec).map(({ path, check }) => [`${path}/id`, check.id] as const),
  ];
  return named
    .filter(([, text]) => text !== undefined && control.test(text))
    .map(([path]) =>
      error('SEMANTIC_CONTROL_CHARACTER', path, 'expected one line of text, found a control character'),
    );
}
