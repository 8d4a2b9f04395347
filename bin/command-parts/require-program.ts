import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/contract/turns.ts';
import { findAgent } from '../../engine/tool/find-agent.ts';

/**
 * PROVIDER_OPTION if the command line or the environment names the program of an agent and it does not exist: nothing
 * could start it later.
 */
export function requireProgram(agent: Parameters<typeof findAgent>[0], flags: ModelChoice['flags']): void {
  const { flag } = agent.program;
  if (flags[flag] === undefined) return;
  try {
    findAgent(agent, flags);
  } catch (fault) {
    if (!isWritError(fault, 'AGENT_UNAVAILABLE')) throw fault;
    throw new WritError('PROVIDER_OPTION', {
      message: `\`--${flag}\`: ${fault.message}`,
      detail: { flag, ...fault.detail },
      hints: fault.hints,
    });
  }
}
