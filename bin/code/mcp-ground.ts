import { readVersion } from '../../api/version.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { McpGround } from '../../session/mcp/mcp-ground.ts';
import { threadsOf } from '../../session/mcp/threads-of.ts';
import type { SessionOptions } from '../../session/options/session-options.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { askWrit } from '../mcp/ask-writ.ts';

/** What MCP clients of a session are answered from; nobody but the client's own person can be asked there. */
export function mcpGround(
  { env, print }: Pick<CommandContext, 'env' | 'print'>,
  { approval, context }: Pick<SessionOptions, 'approval' | 'context'>,
  repository: Repository,
): McpGround {
  const { root: cwd } = repository;
  return {
    cwd,
    version: readVersion(),
    ask: askWrit({ cwd, env }),
    approval: { policy: approval.policy },
    threads: threadsOf(repository, userJournalWitness(env)),
    readsOnly: () => context !== 'dev',
    log: (line) => print.note(line),
  };
}
