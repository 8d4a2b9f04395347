import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { checkEnvironment } from '../check-environment.ts';
import { guardCommand } from './guard-command.ts';

const variables = Object.keys(
  checkEnvironment({
    intentSpecId: '',
    intentSpecDigest: '',
    runId: '',
    workspace: '',
    baseSha: '',
    patchSetDigest: '',
    reportsDir: '',
  }),
);

/**
 * A warning for each check command that the ACL would deny when it runs. The command of a `policy` check is one only
 * where its first word names no registered rule (resolutions A, Check kinds).
 */
export function commandProblems(
  spec: EffectiveIntentSpec,
  registeredRules: readonly string[],
): readonly Issue[] {
  return checksOf(spec).flatMap(({ path, check: { command, kind } }) => {
    if (!command?.trim()) return [];
    const [word = ''] = command.trim().split(/[\s|&;<>()$`]/, 1);
    if (kind === 'policy' && registeredRules.includes(word.replaceAll(/['"]/g, ''))) return [];
    const { refusal } = guardCommand(spec.security.toolAcl, command, { variables });
    if (!refusal) return [];
    return [
      warning('SEMANTIC_CHECK_COMMAND_DENIED', `${path}/command`, `${refusal.message}; the check will fail`),
    ];
  });
}
