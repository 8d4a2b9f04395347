import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { readLanguageRuntime } from '../language-runtime.ts';
import type { Partly } from '../partly.ts';

/** A runtime that no run could check: the schema takes any text, this only what names a known tool and version. */
export function languageRuntime(spec: Partly<IntentSpec>): readonly Issue[] {
  const text = spec.constraints?.platform?.languageRuntime;
  const read = text === undefined ? [] : readLanguageRuntime(text);
  if (!('message' in read)) return [];
  return [error('SEMANTIC_LANGUAGE_RUNTIME', '/constraints/platform/languageRuntime', read.message)];
}
