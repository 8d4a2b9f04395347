import { WritError } from '../../core/base/errors.ts';
import type { IntentSpec } from '../../core/contract/intentspec.gen.ts';
import { templateWords } from '../spec/rules/template-words.ts';

/** Whoever activates a contract agrees to its words; INTENTSPEC_INVALID where they are still those of `spec new`. */
export function requireOwnWords(document: IntentSpec): void {
  const { lifecycle } = document;
  const issues = templateWords({ ...document, lifecycle: { ...lifecycle, status: 'active' } });
  const [first] = issues;
  if (first === undefined) return;
  throw new WritError('INTENTSPEC_INVALID', {
    message: `${first.path}: ${first.message}${issues.length > 1 ? `; ${issues.length} places in all` : ''}`,
    detail: { issues },
    hints: ['replace the words of the template: `writ spec validate` lists every place'],
  });
}
