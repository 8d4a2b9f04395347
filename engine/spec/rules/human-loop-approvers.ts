import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue, warning } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/** Policy checks of the release stage that wait for `minApprovers` people, whether or not a human loop is required. */
const asksPeople: ReadonlySet<string> = new Set([
  'require-approvers',
  'new-dependency',
  'licenses',
  'judge-changed',
]);

/**
 * A human loop needs somebody in it: `required` wants at least one approver. Approvers without one count only where a
 * release check asks for them; elsewhere nobody is waited for, which is said.
 */
export function humanLoopApprovers(spec: Partly<IntentSpec>): readonly Issue[] {
  const { required, minApprovers } = spec.risk?.humanInLoop ?? {};
  if (required === true && minApprovers === 0)
    return [
      error(
        'SEMANTIC_HUMAN_LOOP_APPROVERS',
        '/risk/humanInLoop/minApprovers',
        'expected at least 1 where a human loop is required, found 0',
      ),
    ];
  if (required !== false || minApprovers === undefined || minApprovers === 0) return [];
  const isAsked = checksOf(spec, ['releaseChecks']).some(
    ({ check: { kind, command } }) =>
      kind === 'policy' && asksPeople.has(command?.trim().split(/\s+/, 1)[0] ?? ''),
  );
  if (isAsked) return [];
  return [
    warning(
      'SEMANTIC_HUMAN_LOOP_UNASKED',
      '/risk/humanInLoop/required',
      `expected true where approvers are named, found false: nobody waits for the ${minApprovers} of \`minApprovers\``,
    ),
  ];
}
