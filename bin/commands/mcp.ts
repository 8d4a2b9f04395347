/* The `writ mcp` commands: MCP servers in the user's configuration, and in that of the repository. */
import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { endpointOf, type McpServer, reachOf } from '../../agent/mcp/start-server.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
import { homeOf, readUserConfig, userConfigDir } from '../../attest/keys/user-config-dir.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { makeDirectories, readPlainFile, writeDurably } from '../../core/base/files.ts';
import {
  type ConfigText,
  readMcpSection,
  readUserMcp,
  uncommittedMcp,
  withMcpServer,
  withoutMcpServer,
} from '../../engine/config/mcp-section.ts';
import { readSectionAlone, readTableOf } from '../../engine/config/table-reader.ts';
import { uncommittedWords } from '../../session/screen/words.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { configLock, lockOutput } from '../command-parts/write-output.ts';

const projectFile = '.writ/config.toml';

/** `writ mcp add NAME -- COMMAND…` or `--url URL`. USAGE for a name that is there already, CONFIG_INVALID. */
export async function mcpAddCommand(context: CommandContext): Promise<CommandResult> {
  const { args, options } = context;
  const [name = '', ...command] = args;
  await using _lock = await lockPlace(context);
  const place = await placeOf(context);
  const env = options.values('env').map((one) => /^([^=]*)(?:=(.*))?$/s.exec(one) ?? []);
  const program = await seenProgram(context, command, place);
  const table = {
    ...(command.length === 0 ? {} : { command: program.command }),
    ...listed('url', options.value('url')),
    ...listed('directory', options.value('directory') ?? program.directory),
    ...(program.reads && options.value('directory') === undefined ? { workspace: 'read' } : {}),
    ...some('hosts', options.values('host')),
    ...listed('token', options.value('token')),
    ...some('tools', options.values('tool')),
    ...(env.length === 0
      ? {}
      : { env: Object.fromEntries(env.map(([, variable = '', secret]) => [variable, secret ?? variable])) }),
  };
  if (tablesOf(place).has(name))
    throw new WritError('USAGE', {
      message: `the MCP server \`${name}\` is configured in \`${place.shown}\` already. Run \`writ mcp remove ${name}\` first, or pass another name.`,
      detail: { name },
    });
  const { text, server } = withMcpServer(place, name, table);
  await place.write(text);
  const reach = reachOf(server);
  return succeeded({ name, from: place.from, path: place.path, reach, ...table }, (printer) => {
    printer.line(
      `added ${name} to ${place.shown}: ${command.length === 0 ? server.url : program.command.join(' ')}`,
    );
    if (server.directory !== undefined) printer.line(`  the sandbox shows ${server.directory} as /mcp`);
    printer.line(
      `  the server ${reach === 'no network, no files' ? 'has no network, and sees no file of the repository' : reach}`,
    );
    if (program.reads && place.from === 'user')
      printer.line('  it does not start in other repositories: `--project` adds it to this one alone');
    printer.line(
      place.from === 'policy'
        ? `  it counts once committed: git add ${projectFile} && git commit`
        : '  `writ code` asks before it starts the server, and before the first use of each tool',
    );
  });
}

/** `writ mcp list`: the servers of the user, those of HEAD, and tables that are not committed. */
export async function mcpListCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await repositoryHere(context);
  const own = await readUserConfig(context.env);
  const [policy, uncommitted] =
    repository === undefined
      ? [[], []]
      : [await policyServers(repository), await uncommittedMcp(repository.root)];
  const servers = [...policy, ...(own === undefined ? [] : readUserMcp(own))];
  const data = { servers: servers.map(toData), uncommitted: [...uncommitted] };
  return succeeded(data, (printer) => {
    printer.table(
      servers.map((one) => [one.name, one.from, one.url ?? one.command?.join(' ') ?? '', reachOf(one)]),
    );
    if (uncommitted.length > 0) printer.note(uncommittedWords(uncommitted));
    if (servers.length + uncommitted.length === 0)
      printer.note('no MCP servers; `writ mcp add NAME -- COMMAND` adds one');
  });
}

/** `writ mcp remove NAME`. MCP_SERVER_UNKNOWN. */
export async function mcpRemoveCommand(context: CommandContext): Promise<CommandResult> {
  const [name = ''] = context.args;
  await using _lock = await lockPlace(context);
  const place = await placeOf(context);
  const known = tablesOf(place);
  if (!known.has(name))
    throw new WritError('MCP_SERVER_UNKNOWN', {
      message: `\`${place.shown}\` has no MCP server \`${name}\``,
      detail: { name, path: place.path, servers: [...known.keys()] },
    });
  await place.write(withoutMcpServer(place, name));
  return succeeded({ name, from: place.from, path: place.path }, (printer) => {
    printer.line(`removed ${name} from ${place.shown}`);
    if (place.from === 'policy')
      printer.line(`  it counts once committed: git add ${projectFile} && git commit`);
  });
}

/** A configuration file as it is now. */
interface ConfigPlace extends ConfigText {
  /** The path as people read it. */
  readonly shown: string;
  readonly repository?: Repository;
  write(text: string): Promise<void>;
}

const maxBytes = 256 * 1024;

async function lockPlace({ env, options, repoPath, cwd }: CommandContext): Promise<AsyncDisposable> {
  if (options.flag('project'))
    return lockOutput(projectFile, configLock(await openRepository(repoPath ?? cwd)));
  const root = userConfigDir(env);
  return lockOutput(join(root, 'config.toml'), join(root, 'config.lock'));
}

async function placeOf(context: CommandContext): Promise<ConfigPlace> {
  const { env, options } = context;
  if (options.flag('project')) {
    const repository = await openRepository(context.repoPath ?? context.cwd);
    const place = { root: repository.root, parts: ['.writ', 'config.toml'] };
    const text = readPlainFile(place, maxBytes)?.toString('utf8') ?? '';
    const path = join(repository.root, projectFile);
    return {
      from: 'policy',
      path,
      shown: projectFile,
      text,
      repository,
      async write(next) {
        await makeDirectories({ ...place, parts: ['.writ'] });
        await writeDurably(path, next, 0o644);
      },
    };
  }
  const root = userConfigDir(env);
  const path = join(root, 'config.toml');
  const home = homeOf(env) + sep;
  const repository = await repositoryHere(context);
  const own = await readUserConfig(env);
  return {
    from: 'user',
    path,
    shown: path.startsWith(home) ? `~/${path.slice(home.length)}` : path,
    text: Buffer.from(own?.bytes ?? []).toString('utf8'),
    ...(repository === undefined ? {} : { repository }),
    async write(next) {
      const { root: above, parts } = below(root);
      await makeDirectories({ root: above, parts });
      await writeDurably(path, next);
    },
  };
}

/** A directory as a root that exists, and the names below it. */
function below(path: string, parts: readonly string[] = []): { root: string; parts: readonly string[] } {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined || dirname(path) === path)
    return { root: path, parts };
  return below(dirname(path), [path.slice(dirname(path).length).replace(/^\//, ''), ...parts]);
}

async function repositoryHere({ repoPath, cwd }: CommandContext): Promise<Repository | undefined> {
  try {
    return await openRepository(repoPath ?? cwd);
  } catch (fault) {
    if (repoPath === undefined && isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  }
}

/** Tables below `[mcp]`. CONFIG_INVALID for a file that is no TOML. */
function tablesOf({ path, text }: ConfigPlace): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(readTableOf({ path, bytes: Buffer.from(text) }, 'mcp')));
}

async function policyServers(repository: Repository): Promise<readonly McpServer[]> {
  const bytes = await readBlob(repository, 'HEAD', projectFile).catch(() => undefined);
  return [...(readSectionAlone(bytes, 'mcp', readMcpSection)?.values() ?? [])];
}

function toData(server: McpServer): JsonData {
  const { name, from, command, url } = server;
  return {
    name,
    from,
    ...(command === undefined ? {} : { command: [...command] }),
    ...(url === undefined ? {} : { url }),
    endpoint: endpointOf(server),
    reach: reachOf(server),
  };
}

/** A command as the sandbox can run it, and what the sandbox must show for it. */
interface SeenProgram {
  readonly command: readonly string[];
  /** The program is a file of the repository. */
  readonly reads: boolean;
  readonly directory?: string;
}

/**
 * The sandbox shows neither the repository nor the user's files unless the configuration says so. The first word
 * that names a file decides: `workspace = "read"` for a file of the repository, else `directory`.
 */
async function seenProgram(
  { cwd, env }: CommandContext,
  command: readonly string[],
  { from, repository }: ConfigPlace,
): Promise<SeenProgram> {
  const at = command.findIndex(
    (word, index) => index > 0 && !word.startsWith('-') && isFile(resolve(cwd, word)),
  );
  if (at < 0) return { command, reads: false };
  const file = await realpath(resolve(cwd, command[at] ?? ''));
  const root = repository && (await realpath(repository.root));
  if (root !== undefined && file.startsWith(root + sep)) {
    const path = relative(root, file);
    // Dependencies are shown anyway.
    return { command: command.with(at, path), reads: !path.startsWith(`node_modules${sep}`) };
  }
  const directory = packageOf(file, homeOf(env));
  const why =
    from === 'policy'
      ? 'it is outside the repository. Copy it into the repository, or leave out `--project`'
      : directory === homeOf(env) || directory === parse(directory).root
        ? `the sandbox would show all of \`${directory}\`. Move it into a directory of its own`
        : root?.startsWith(directory + sep) === true
          ? `its directory \`${directory}\` holds this repository, and a change could write the program. Move it into a directory of its own`
          : undefined;
  if (why !== undefined)
    throw new WritError('USAGE', { message: `\`${command[at]}\` cannot be a server program: ${why}.` });
  return {
    command: command.with(at, `/mcp/${relative(directory, file).split(sep).join('/')}`),
    reads: false,
    directory,
  };
}

/** The nearest directory with a `package.json`, below the home directory; else that of the file. */
function packageOf(file: string, home: string): string {
  for (let at = dirname(file); at !== home && dirname(at) !== at; at = dirname(at))
    if (isFile(join(at, 'package.json'))) return at;
  return dirname(file);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function listed<Name extends string>(
  name: Name,
  value: string | undefined,
): { readonly [N in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: string };
}

function some<Name extends string>(
  name: Name,
  values: readonly string[],
): { readonly [N in Name]?: readonly string[] } {
  return (values.length === 0 ? {} : { [name]: values }) as { readonly [N in Name]?: readonly string[] };
}
