import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/** Every check says what to run: a command line, or the name of a policy rule. Blank is nothing. */
export function checkCommand(spec: Partly<IntentSpec>): readonly Issue[] {
  const message = 'expected a `command`, found none';
  return checksOf(spec).flatMap(({ path, check }) => {
    if (!('command' in check)) return [error('SEMANTIC_CHECK_COMMAND', path, message)];
    // The empty string is the schema's business.
    const blank = check.command !== '' && check.command?.trim() === '';
    return blank ? [error('SEMANTIC_CHECK_COMMAND', `${path}/command`, message)] : [];
  });
}
