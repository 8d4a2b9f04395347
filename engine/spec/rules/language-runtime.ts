import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import { readLanguageRuntime } from '../language-runtime.ts';
import type { Partly } from '../partly.ts';

/** A runtime that no run could check; the schema takes any text, so validation warns and a run refuses. */
export function languageRuntime(spec: Partly<IntentSpec>): readonly Issue[] {
  const text = spec.constraints?.platform?.languageRuntime;
  const read = text === undefined ? [] : readLanguageRuntime(text);
  if (!('message' in read)) return [];
  return [warning('SEMANTIC_LANGUAGE_RUNTIME', '/constraints/platform/languageRuntime', read.message)];
}
