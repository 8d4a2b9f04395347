/* Agent profiles and MCP services of a session, and the writ commands that an MCP client may run. */
import { Readable } from 'node:stream';
import { readVersion } from '../../api/build.ts';
import { userConfigDir } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { WritError } from '../../core/base/errors.ts';
import { type AgentPlaces, type AgentProfile, findAgent } from '../../session/agents.ts';
import { threadsOf } from '../../session/mcp/resources.ts';
import type { McpGround, WritAnswer } from '../../session/mcp/tool.ts';
import type { SessionOptions } from '../../session/session-options.ts';
import { runGit } from '../../workspace/git/git.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { contractCommands } from '../command-table/contract-commands.ts';
import { otherCommands } from '../command-table/other-commands.ts';
import { runCommands } from '../command-table/run-commands.ts';
import { dispatch } from '../dispatch.ts';
import type { Sink } from '../terminal/print.ts';

/** Directories of agent profiles: the repository's and the user's. */
export function agentPlaces({ env }: Pick<CommandContext, 'env'>, { root }: Repository): AgentPlaces {
  return {
    project: { root, parts: ['.writ', 'agents'] },
    user: { root: userConfigDir(env), parts: ['agents'] },
  };
}

/** Returns the profile with that name. AGENT_UNKNOWN, AGENT_INVALID. */
export function agentAt(
  context: Pick<CommandContext, 'env'>,
  repository: Repository,
  name: string,
): AgentProfile {
  return findAgent(name, agentPlaces(context, repository));
}

/** Services for MCP clients of a session. Only the client's own user can be prompted there. */
export function mcpEnvironment(
  { env, print }: Pick<CommandContext, 'env' | 'print'>,
  { approval, context }: Pick<SessionOptions, 'approval' | 'context'>,
  repository: Repository,
): McpGround {
  const { root: cwd } = repository;
  return {
    cwd,
    version: readVersion(),
    ask: callWrit({ cwd, env }),
    approval: { policy: approval.policy },
    threads: threadsOf(repository, userJournalWitness(env)),
    readsOnly: () => context !== 'dev',
    log: (line) => print.note(line),
  };
}

const most = 2000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Returns a file search in the repository around a directory. The repository is located once. A search returns a
 * bounded list of paths that contain all letters. Concurrent searches share one file listing.
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

/** Prefix matches come first. */
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

/** Commands that an MCP client may run. All are read-only. */
const open: ReadonlySet<string> = new Set(['spec validate', 'plan', 'scan', 'runs', 'show', 'verify']);
const commands = [...contractCommands, ...runCommands, ...otherCommands].filter(({ name }) => open.has(name));
const maxOutputBytes = 64 * 1024 * 1024;

/**
 * Runs a command of writ's in this process as `writ WORDS --json` would: its own data and its own refusals. It has no
 * terminal, its standard input is empty, and what it prints stays here.
 */
export function callWrit({
  cwd,
  env,
  repoPath,
}: Pick<CommandContext, 'cwd' | 'env' | 'repoPath'>): McpGround['ask'] {
  return async (words, signal) => {
    const asked = new AbortController();
    const stop = (): void =>
      asked.abort(new WritError('RUN_INTERRUPTED', { message: 'the client took its call back' }));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const out = capture();
    try {
      const repo = repoPath === undefined ? [] : [`--repo=${repoPath}`];
      await dispatch(withOptions(words, ['--json', ...repo]), commands, {
        out,
        err: capture(),
        outTerminal: {},
        errTerminal: {},
        stdin: Readable.from([]),
        cwd,
        env,
        signal: asked.signal,
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return JSON.parse(out.text()) as WritAnswer;
  };
}

/** Inserts options before `--`. */
function withOptions(words: readonly string[], options: readonly string[]): readonly string[] {
  const at = words.indexOf('--');
  return at === -1 ? [...words, ...options] : words.toSpliced(at, 0, ...options);
}

function capture(): Sink & { readonly text: () => string } {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    write(chunk) {
      size += chunk.length;
      if (size > maxOutputBytes) throw new WritError('OUTPUT_TOO_LARGE');
      parts.push(Buffer.from(chunk));
    },
    flush: async () => undefined,
    closed: false,
    failure: undefined,
    text: () => Buffer.concat(parts).toString('utf8'),
  };
}
