/* Reads `[mcp.NAME]`: the MCP servers of a repository's policy, and those of a user. */
import { isDeepStrictEqual } from 'node:util';
import type { McpServer } from '../../agent/mcp/start-server.ts';
import { readPlainFile } from '../../core/base/files.ts';
import { serviceUrlFault } from '../../core/base/http-question.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { readNetworkHost } from '../../spec/checks-of.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import {
  type ConfigIssue,
  formatToml,
  invalidFile,
  parseToml,
  readTableOf,
  readUserTable,
  TableReader,
  type UserConfig,
} from './table-reader.ts';

const maxBytes = 256 * 1024;
const maxServers = 16;
const maxWords = 64;
const maxHosts = 32;
const maxTools = 64;
const maxVariables = 16;

/** Names of variables that decide which program runs or what it loads. */
const loading = /^(?:LD_|DYLD_|NODE_|BASH|PYTHON|PERL|RUBY|GIT_|PATH$|HOME$|TMPDIR$|ENV$|IFS$|SHELLOPTS$)/;
const secretName = /^[A-Z][A-Z0-9_]{0,99}$/;

/** Reads `[mcp]`, by the name of the server. Only a user's own file may name directories of this machine. */
export function readMcpSection(
  reader: TableReader,
  from: McpServer['from'] = 'policy',
): ReadonlyMap<string, McpServer> {
  const names = reader.keys();
  if (names.length > maxServers) {
    reader.refuse(reader.path, `expected at most ${maxServers} servers, found ${names.length}`);
    return new Map();
  }
  return new Map(names.map((name) => [name, readServer(reader.table(name), name, from)]));
}

/** Reads `[mcp.NAME]` of a user's `config.toml`. Throws CONFIG_INVALID. */
export function readUserMcp(config: UserConfig): readonly McpServer[] {
  return readUserTable(config, 'mcp', (reader) => [...readMcpSection(reader, 'user').values()]);
}

/** Appends `[mcp.NAME]` to a configuration file, whose other text stays. CONFIG_INVALID for what writ would refuse. */
export function withMcpServer(
  file: ConfigText,
  name: string,
  table: Readonly<Record<string, unknown>>,
): { readonly text: string; readonly server: McpServer } {
  const between =
    file.text === '' || file.text.endsWith('\n\n') ? '' : file.text.endsWith('\n') ? '\n' : '\n\n';
  const block = formatToml({ mcp: { [name]: table } }).replace(/^\[mcp\]\n/, '');
  const text = `${file.text}${between}${block.trimEnd()}\n`;
  const issues: ConfigIssue[] = [];
  const server = readMcpSection(
    new TableReader(readTableOf({ path: file.path, bytes: Buffer.from(text) }, 'mcp'), 'mcp', issues),
    file.from,
  ).get(name);
  if (server === undefined || issues.length > 0) throw invalidFile(file.path, { issues }, undefined, '');
  return { text, server };
}

/** Removes `[mcp.NAME]` from a configuration file, whose other text stays. CONFIG_INVALID if it has another form. */
export function withoutMcpServer(file: ConfigText, name: string): string {
  const lines = file.text.split('\n');
  const isOwn = (line: string): boolean =>
    [`[mcp.${name}]`, `[mcp.${name}.`].some((head) => line.replaceAll(/[\s"']/g, '').startsWith(head));
  const from = lines.findIndex(isOwn);
  let to = lines.findIndex((line, at) => at > from && /^\s*\[/.test(line) && !isOwn(line));
  if (to < 0) to = lines.length;
  // Comments above the next table belong to it.
  while (to < lines.length && to > from + 1 && /^\s*(?:#|$)/.test(lines[to - 1] ?? '')) to -= 1;
  const text =
    from < 0
      ? file.text
      : lines
          .toSpliced(from, to - from)
          .join('\n')
          .trim();
  const read = (one: string) => readTableOf({ path: file.path, bytes: Buffer.from(one) }, 'mcp');
  const { [name]: _, ...others } = read(file.text);
  if (isDeepStrictEqual({ ...read(text) }, others)) return text === '' ? '' : `${text}\n`;
  const issues = [{ path: `mcp.${name}`, message: 'it is no table of its own; remove it by hand' }];
  throw invalidFile(file.path, { issues }, undefined, '');
}

/** A configuration file that is edited. */
export interface ConfigText {
  readonly path: string;
  readonly text: string;
  readonly from: McpServer['from'];
}

function readServer(reader: TableReader, name: string, from: McpServer['from']): McpServer {
  // No underscore: `mcp__SERVER__TOOL` is split in one way only.
  if (!/^[a-z][a-z0-9-]{0,23}$/.test(name))
    reader.refuse(reader.path, 'expected a name of at most 24 lower-case letters, digits and `-`');
  const isUser = from === 'user';
  const command = reader.texts('command', []);
  const url = reader.text('url', '');
  if ((command.length === 0) === (url === ''))
    reader.refuse(reader.path, 'expected either `command` or `url`');
  const directory = isUser && reader.has('directory') ? reader.text('directory', '') : undefined;
  if (directory !== undefined && !/^(?:~\/|\/).*[^/]$/.test(directory))
    reader.refuse(reader.at('directory'), 'expected an absolute path, or one that begins with `~/`');
  const program = command[0] ?? '';
  if (program.includes('/'))
    reader.refuse(
      reader.at('command'),
      `\`${program}\` is a path; expected a bare name found on the sandbox's PATH, such as \`node\``,
    );
  if (command.length > maxWords) reader.refuse(reader.at('command'), `expected at most ${maxWords} words`);
  const fault = url === '' ? undefined : serviceUrlFault(url);
  if (fault !== undefined || (url !== '' && !url.startsWith('https:')))
    reader.refuse(reader.at('url'), fault ?? 'expected `https:`');
  const server: McpServer = {
    name,
    from,
    ...(command.length === 0 ? {} : { command }),
    ...(url === '' ? {} : { url }),
    ...(directory === undefined ? {} : { directory }),
    ...readReach(reader, url !== ''),
    timeoutSeconds: reader.integer('timeout_seconds', 60, 1, 600),
    ...readTools(reader),
  };
  reader.end();
  return server;
}

/** What the server may reach: its hosts and secrets, or the files of the workspace, never both. */
function readReach(
  reader: TableReader,
  isRemote: boolean,
): Pick<McpServer, 'hosts' | 'env' | 'token' | 'reads'> {
  const hosts = reader.texts('hosts', []);
  if (hosts.length > maxHosts) reader.refuse(reader.at('hosts'), `expected at most ${maxHosts} hosts`);
  const wrong = hosts.find((host) => readNetworkHost(host) === undefined);
  if (wrong !== undefined)
    reader.refuse(reader.at('hosts'), `\`${wrong}\` is no host; expected a name such as \`api.example.com\``);
  const table = reader.table('env');
  const env = table.keys().map((variable): [string, string] => {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(variable) || loading.test(variable.toUpperCase()))
      table.refuse(table.at(variable), 'expected a variable that decides no program and no library');
    const secret = table.text(variable, '');
    if (!secretName.test(secret))
      table.refuse(
        table.at(variable),
        'expected the name of a variable or of a secret of the vault, never the value',
      );
    return [variable, secret];
  });
  if (env.length > maxVariables) table.refuse(table.path, `expected at most ${maxVariables} variables`);
  table.end();
  const token = reader.text('token', '');
  if (token !== '' && !secretName.test(token))
    reader.refuse(
      reader.at('token'),
      'expected the name of a variable or of a secret of the vault, never the value',
    );
  const workspace = reader.text('workspace', 'none');
  if (workspace !== 'none' && workspace !== 'read')
    reader.refuse(reader.at('workspace'), 'expected "none" or "read"');
  const reads = workspace === 'read';
  if (isRemote && (hosts.length > 0 || env.length > 0))
    reader.refuse(reader.path, '`hosts` and `env` are of a server with `command`; `url` names its one host');
  if (!isRemote && token !== '')
    reader.refuse(reader.at('token'), 'it is of a server with `url`; give a program its secrets with `env`');
  if (reads && (isRemote || hosts.length > 0 || env.length > 0))
    reader.refuse(
      reader.at('workspace'),
      'a server that reads the workspace has no network and no secret; expected "none", or no `url`, `hosts` and `env`',
    );
  return { hosts, env: Object.fromEntries(env), ...(token === '' ? {} : { token }), reads };
}

function readTools(reader: TableReader): Pick<McpServer, 'tools'> {
  if (!reader.has('tools')) return {};
  const tools = reader.texts('tools', []);
  if (tools.length === 0 || tools.length > maxTools)
    reader.refuse(reader.at('tools'), `expected 1 to ${maxTools} names of tools`);
  return { tools };
}

/**
 * The tables `[mcp…]` of `.writ/config.toml` in the working tree that differ from HEAD, such as `mcp.notes`: they count
 * once committed. None if the file is missing or cannot be read; `root` is that of the repository.
 */
export async function uncommittedMcp(root: string): Promise<readonly string[]> {
  let bytes: Buffer | undefined;
  try {
    bytes = readPlainFile({ root, parts: ['.writ', 'config.toml'] }, maxBytes);
  } catch {
    return [];
  }
  // Most repositories name no server.
  if (bytes?.includes('mcp') !== true) return [];
  const committed = await openRepository(root, { onlyReads: true })
    .then((repository) => readBlob(repository, 'HEAD', '.writ/config.toml'))
    .catch(() => undefined);
  const [now, before] = [tablesIn(bytes), tablesIn(committed)];
  if (now === undefined) return ['mcp'];
  return [...new Set([...now.keys(), ...(before?.keys() ?? [])])].filter(
    (name) => now.get(name) !== before?.get(name),
  );
}

/** Tables whose name begins with `mcp`, as other programs spell it too, each as JSON. Absent: it is no TOML. */
function tablesIn(bytes: Buffer | undefined): ReadonlyMap<string, string> | undefined {
  if (bytes === undefined) return new Map();
  try {
    const root = parseToml(bytes, maxBytes, (issues) => invalidFile('', { issues }));
    const named = Object.entries(isRecord(root) ? root : {}).filter(([name]) => name.startsWith('mcp'));
    return new Map(
      named.flatMap(([name, table]) =>
        Object.entries(isRecord(table) ? table : { '': table }).map(([server, value]): [string, string] => [
          `${name}.${server}`.replace(/\.$/, ''),
          JSON.stringify(value),
        ]),
      ),
    );
  } catch {
    return undefined;
  }
}
