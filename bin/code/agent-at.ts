import { readVersion } from '../../api/build.ts';
import { userConfigDir } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { type AgentPlaces, type AgentProfile, findAgent } from '../../session/agents.ts';
import { threadsOf } from '../../session/mcp/resources.ts';
import type { McpGround } from '../../session/mcp/tool.ts';
import type { SessionOptions } from '../../session/session-options.ts';
import { runGit } from '../../workspace/git/git.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { askWrit } from '../mcp/ask-writ.ts';

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

const most = 2000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Asks for files of the repository around a directory, which is looked for once: those that hold all of the letters,
 * bounded. Whoever asks while a list is made gets that one.
 */
export function pathsAround(directory: string): (sought: string) => Promise<readonly string[]> {
  const found = openRepository(directory);
  let listing: Promise<readonly string[]> | undefined;
  return async (sought) => {
    listing ??= found.then(listPaths).finally(() => {
      listing = undefined;
    });
    return narrowed(await listing, sought.toLowerCase());
  };
}

/** Files of the work tree, tracked and new; none that git ignores. */
async function listPaths(repository: Repository): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runGit(repository, args, { maxBytes });
  return listed
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
}

/** Those that begin so stand first. */
function narrowed(paths: readonly string[], sought: string): readonly string[] {
  const begins = paths.filter((path) => path.toLowerCase().startsWith(sought));
  const rest = paths.filter((path) => !path.toLowerCase().startsWith(sought) && holdsLetters(path, sought));
  return [...begins, ...rest].slice(0, most);
}

/** In their order, with anything between them. */
function holdsLetters(path: string, sought: string): boolean {
  let at = -1;
  const lower = path.toLowerCase();
  return [...sought].every((letter) => {
    at = lower.indexOf(letter, at + 1);
    return at >= 0;
  });
}
