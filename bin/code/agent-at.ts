import { userConfigDir } from '../../attest/keys/user-config-dir.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { AgentProfile } from '../../session/agents/agent-profile.ts';
import { type AgentPlaces, findAgent } from '../../session/agents/find-agent.ts';
import type { CommandContext } from '../command-parts/command.ts';

/** Where profiles lie that this user and this repository have. */
export function agentPlaces({ env }: Pick<CommandContext, 'env'>, { root }: Repository): AgentPlaces {
  return {
    project: { root, parts: ['.writ', 'agents'] },
    user: { root: userConfigDir(env), parts: ['agents'] },
  };
}

/** The profile of that name there, for whoever calls it. AGENT_UNKNOWN, AGENT_INVALID. */
export function agentAt(
  context: Pick<CommandContext, 'env'>,
  repository: Repository,
  name: string,
): AgentProfile {
  return findAgent(name, agentPlaces(context, repository));
}
