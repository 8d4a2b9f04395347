/* Warns of check commands that the tool rules would deny. */
import { type Issue, warning } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { schedulerVariables } from '../process/find-program.ts';
import { mayBeProgram } from './command-paths.ts';
import { guardCommand } from './guard-command.ts';

/**
 * Returns a warning for each check command that the ACL would deny at run time. In a `policy` check, `command` is a
 * shell command only if its first word is not a registered rule.
 */
export function commandProblems(
  spec: EffectiveIntentSpec,
  registeredRules: readonly string[],
): readonly Issue[] {
  return checksOf(spec).flatMap(({ path, check: { command, kind } }) => {
    if (!command?.trim()) return [];
    const [word = ''] = command.trim().split(/[\s|&;<>()$`]/, 1);
    if (kind === 'policy' && registeredRules.includes(word.replaceAll(/['"]/g, ''))) return [];
    const variables = [...schedulerVariables, ...mayBeSecrets(spec, command)];
    const { refusal } = guardCommand(spec.security.toolAcl, command, { variables, isProgram: mayBeProgram });
    if (!refusal) return [];
    return [
      warning('SEMANTIC_CHECK_COMMAND_DENIED', `${path}/command`, `${refusal.message}; the check will fail`),
    ];
  });
}

/**
 * Returns the variable names in a command that may be secrets. The secrets that a scope grants are known only where
 * the spec runs.
 */
function mayBeSecrets({ security: { secrets } }: EffectiveIntentSpec, command: string): readonly string[] {
  if (secrets.policy === 'deny-all' || secrets.allowedScopes.length === 0) return [];
  return [...command.matchAll(/\$\{?([A-Za-z_][A-Za-z0-9_]{0,127})/g)].map(([, name = '']) => name);
}

export { mayBeProgram, programsIn } from './command-paths.ts';
export { type CommandVerdict, guardCommand } from './guard-command.ts';
export { guardTool, shownPaths, type ToolInvocation, type ToolVerdict } from './guard-tool.ts';
