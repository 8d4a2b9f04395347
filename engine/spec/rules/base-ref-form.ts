import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

const forbidden = /[\p{Cc}\s~^:?*[\\\u2028\u2029]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|^[-/.]|[/.]$|^@$/u;

/**
 * baseRef is a branch, tag or full commit SHA: a name as `git check-ref-format` takes it, never an option or
 * expression.
 */
export function baseRefForm(spec: Partly<IntentSpec>): readonly Issue[] {
  const baseRef = spec.metadata?.target?.baseRef;
  if (baseRef === undefined || !forbidden.test(baseRef)) return [];
  return [
    error(
      'SEMANTIC_BASE_REF',
      '/metadata/target/baseRef',
      `expected a branch, a tag or a full commit SHA, found ${quoted(baseRef)}`,
    ),
  ];
}
