/* The known language servers, and the configuration table `[lsp]`. */
import type { LanguageServer } from '../../agent/language-servers/language-server.ts';
import type { TableReader } from './table-reader.ts';

const native = /^Version (?:[7-9]|[1-9]\d+)\./;

/** Those that are known, by name. Settings shut what would run a program that a project names. */
export const languageServers: Readonly<Record<string, LanguageServer>> = {
  typescript: {
    files: {
      '.ts': 'typescript',
      '.mts': 'typescript',
      '.cts': 'typescript',
      '.tsx': 'typescriptreact',
      '.js': 'javascript',
      '.mjs': 'javascript',
      '.cjs': 'javascript',
      '.jsx': 'javascriptreact',
    },
    project: ['tsconfig.json', 'jsconfig.json', 'package.json'],
    commands: [
      // From TypeScript 7 on the compiler is its own server.
      { command: ['tsc', '--lsp', '--stdio'], version: ['tsc', '--version'], accepts: native },
      { command: ['tsgo', '--lsp', '--stdio'], version: ['tsgo', '--version'], accepts: native },
      {
        command: ['typescript-language-server', '--stdio'],
        version: ['typescript-language-server', '--version'],
      },
    ],
    loads: ['node_modules'],
  },
  python: {
    files: { '.py': 'python', '.pyi': 'python' },
    project: ['pyproject.toml', 'pyrightconfig.json', 'setup.cfg'],
    commands: [
      { command: ['pyright-langserver', '--stdio'], version: ['pyright', '--version'] },
      { command: ['basedpyright-langserver', '--stdio'], version: ['basedpyright', '--version'] },
      { command: ['pylsp'], version: ['pylsp', '--version'] },
    ],
    settings: {
      python: { pythonPath: 'python3', analysis: { diagnosticMode: 'openFilesOnly' } },
      pylsp: { plugins: { pylint: { enabled: false }, flake8: { enabled: false } } },
    },
    warmsUp: true,
  },
  go: {
    files: { '.go': 'go' },
    project: ['go.mod', 'go.sum', 'go.work'],
    commands: [{ command: ['gopls', 'serve'], version: ['gopls', 'version'] }],
    env: { GOTOOLCHAIN: 'local', GOPROXY: 'off' },
    warmsUp: true,
  },
  rust: {
    files: { '.rs': 'rust' },
    project: ['Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml', 'rust-project.json'],
    commands: [{ command: ['rust-analyzer'], version: ['rust-analyzer', '--version'] }],
    settings: {
      'rust-analyzer': {
        cargo: { buildScripts: { enable: false } },
        procMacro: { enable: false },
        checkOnSave: false,
      },
    },
    initialization: {
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
      checkOnSave: false,
    },
    // Before what `.cargo/config.toml` names.
    env: { RUSTC: 'rustc', RUSTC_WRAPPER: '', RUSTC_WORKSPACE_WRAPPER: '', CARGO_NET_OFFLINE: 'true' },
    warmsUp: true,
  },
  cpp: {
    files: {
      '.c': 'c',
      '.h': 'cpp',
      '.cc': 'cpp',
      '.cpp': 'cpp',
      '.cxx': 'cpp',
      '.hh': 'cpp',
      '.hpp': 'cpp',
    },
    project: ['compile_commands.json', 'compile_flags.txt', '.clangd'],
    commands: [
      { command: ['clangd', '--background-index=false', '--log=error'], version: ['clangd', '--version'] },
    ],
    warmsUp: true,
  },
};

const maxServers = 32;
const maxEndings = 32;

/** Reads `[lsp.<name>]`: the table of language servers as this repository has it, those that are off left out. */
export function readLspSection(reader: TableReader): ReadonlyMap<string, LanguageServer> {
  const servers = new Map(Object.entries(languageServers));
  for (const name of reader.keys()) {
    const server = readServer(reader.table(name), name, servers.get(name));
    if (server === undefined) servers.delete(name);
    else servers.set(name, server);
  }
  if (servers.size > maxServers) reader.refuse(reader.path, `expected at most ${maxServers} servers`);
  return servers;
}

function readServer(
  reader: TableReader,
  name: string,
  known: LanguageServer | undefined,
): LanguageServer | undefined {
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name))
    reader.refuse(reader.path, 'expected a name of lower-case letters, digits, `-` and `_`');
  const isOn = reader.flag('enabled', true);
  const command = reader.texts('command', []);
  const endings = reader.texts('files', []);
  const project = reader.texts('project', known?.project ?? []);
  const settings = reader.plain('settings');
  const initialization = reader.plain('initialization');
  reader.end();
  if (command[0]?.includes('/'))
    reader.refuse(
      reader.at('command'),
      `\`${command[0]}\` is a path; expected a bare name found on the sandbox's PATH or in a shared directory`,
    );
  if (isOn && known === undefined && command.length === 0)
    reader.refuse(reader.at('command'), 'expected the program and its words as a list of strings');
  if (isOn && known === undefined && endings.length === 0)
    reader.refuse(reader.at('files'), 'expected how the files end, such as `[".rb"]`');
  const wrong = endings.find((ending) => !/^\.[A-Za-z0-9.+_-]{1,31}$/.test(ending));
  if (wrong !== undefined || endings.length > maxEndings)
    reader.refuse(reader.at('files'), `expected at most ${maxEndings} endings, each with its dot`);
  const file = project.find((one) => one.includes('/'));
  if (file !== undefined) reader.refuse(reader.at('project'), `\`${file}\`: expected the name of a file`);
  if (!isOn) return undefined;
  const of = (ending: string): [string, string] => [ending, known?.files[ending] ?? name];
  return {
    commands: [],
    ...known,
    files: endings.length === 0 ? (known?.files ?? {}) : Object.fromEntries(endings.map(of)),
    project,
    ...(command.length === 0 ? {} : { commands: [{ command }] }),
    ...(reader.has('settings') ? { settings } : {}),
    ...(reader.has('initialization') ? { initialization } : {}),
  };
}
