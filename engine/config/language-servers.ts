import type { PlainValue } from './table-reader.ts';

/** One way to start a server. */
export interface ServerCommand {
  /** The first word is a name on PATH. */
  readonly command: readonly string[];
  /** Words that make it tell its version; absent: that it is there is enough. */
  readonly version?: readonly string[];
  /** What the first line of that has to be like. */
  readonly accepts?: RegExp;
}

/** A language server: of which files it knows something, and what it is told. */
export interface LanguageServer {
  /** How the files end, with the identifier of the protocol for each. */
  readonly files: Readonly<Record<string, string>>;
  /** Names of files that set a project up: when one changes, the server is started anew. */
  readonly project: readonly string[];
  /** The first that is there is taken. */
  readonly commands: readonly ServerCommand[];
  /** What it is told when it asks for its settings, by section; and at its start. */
  readonly settings?: Readonly<Record<string, PlainValue>>;
  readonly initialization?: Readonly<Record<string, PlainValue>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Directories at the top of a workspace from which it loads code: empty for it unless they were given to it. */
  readonly loads?: readonly string[];
  /** It reads the whole project before its answers are whole. */
  readonly warmsUp?: true;
}

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
