/* Declares the commands of sessions. */
import { approvalPolicies, sessionContexts } from '../../session/state/settings.ts';
import { type CommandSpec, loadLean, type OptionSpec } from '../command-parts/command.ts';
import { modelOptions } from '../command-parts/model-options.ts';
import { localChanges, machineOptions } from './contract-commands.ts';

const own: readonly OptionSpec[] = [
  {
    name: 'print',
    value: 'TEXT',
    // No one can give an empty value.
    bare: { means: '', unless: 'words' },
    about:
      'no screen: send TEXT (or standard input), print the answer, and end. writ executes a change of low risk at once; a change of higher risk needs `--yes`, or waits for `--resume` (exit 4)',
  },
  { name: 'yes', about: 'with `--print`: confirm the draft and its plan, whatever its risk' },
  { name: 'events', about: 'with `--print`: print each entry of the session as one line of JSON' },
  { name: 'continue', about: 'continue the last session (thread)' },
  { name: 'web-only', about: 'serve the web page only, without a screen in the terminal' },
  { name: 'web', about: 'the same as `--web-only`' },
  { name: 'plain', about: 'use words instead of colours and symbols, for a screen reader' },
  {
    name: 'port',
    short: 'p',
    value: 'PORT',
    about:
      'port of the web server; default 3000, or a free port if that is in use (not with `--web-only`); 0: any free port',
  },
  {
    name: 'host',
    value: 'IP',
    about:
      'address of the web server; default 127.0.0.1. The API answers only this machine, whatever the address',
  },
  { name: 'cwd', value: 'DIR', about: 'work in this directory instead of the current one' },
  {
    name: 'control',
    value: 'MODE',
    choices: ['observe', 'write'],
    about:
      '`write`: a program that can read the control token (see `--control-token-file`) may control the session; `observe` (default): programs can only watch',
  },
  {
    name: 'control-token-file',
    value: 'FILE',
    about: 'file into which writ writes the control token; default `.writ/code/control-token`',
  },
  {
    name: 'control-info-file',
    value: 'FILE',
    about:
      'file into which writ writes the address and process id of the session; default with `--control write`: `.writ/code/control.json`',
  },
  {
    name: 'browser-control',
    value: 'MODE',
    choices: ['off', 'loopback'],
    about:
      '`loopback`: a browser on this machine may control the session; default `off`, but `loopback` for `--web-only` with codex',
  },
  {
    name: 'agent',
    value: 'NAME',
    about:
      'an agent profile: instructions and limits for the model (`writ help agents`); its model is used instead of `--model`',
  },
  {
    name: 'context',
    value: 'NAME',
    choices: Object.keys(sessionContexts),
    about: 'purpose of the session; in `review` and `research` the model only reads, without a network',
  },
  {
    name: 'resume',
    value: 'THREAD',
    // No thread has this name, and no one can give an empty value.
    bare: { means: '', unless: 'words' },
    about: 'continue this session (thread); without THREAD: choose from a list',
  },
  {
    name: 'approval-policy',
    value: 'NAME',
    choices: Object.keys(approvalPolicies),
    about: 'when the session asks you before it runs a command; default `on-request`',
  },
  {
    name: 'approval-ttl',
    value: 'SECONDS',
    about:
      'how long an approval of a command also covers the same command again; default `[approval] ttl_seconds`, else 300',
  },
  {
    name: 'network-access',
    value: 'MODE',
    choices: ['allow', 'deny'],
    about: 'whether commands and checks may use the network at the start; default deny',
  },
  {
    name: 'mcp-port',
    value: 'PORT',
    about: 'port of the MCP server; default 6789, or a free port if that is in use; 0: any free port',
  },
  { name: 'stdio', about: 'serve an MCP client on standard input and output instead of a network port' },
  { name: 'mcp-stdio', about: 'the same as `--stdio`' },
  {
    name: 'acp',
    about: 'serve an editor over standard input and output (Agent Client Protocol, `writ help acp`)',
  },
  {
    name: 'goal',
    value: 'TEXT',
    about: 'start with this goal, and work until its checks pass; at most 16 KiB',
  },
];

/** In a session the default of Codex is another one than in a run. */
const asked: readonly OptionSpec[] = modelOptions.map((option) => {
  if (option.name === 'provider')
    return {
      ...option,
      about:
        'the model provider; default: the first with a key (`writ doctor` lists them), else a local Ollama',
    };
  if (option.name === 'plan-mode')
    return {
      ...option,
      about: 'codex: change nothing before you approve a plan (true, false; default: true)',
    };
  return option;
});

const project: OptionSpec = {
  name: 'project',
  about: 'the `.writ/config.toml` of this repository, which counts once committed',
};

/** A session with a model. */
export const codeCommands: readonly CommandSpec[] = [
  {
    name: 'code',
    summary: 'work with a model, step by step, in one session',
    description:
      'Shows the session on this terminal (`writ help terminal`), and serves it to this machine as a web page and an API (`writ help code.md`). The session is stored on disk at every step as a thread, so it survives a kill. Ctrl+C or SIGTERM ends it with exit 0. Exit 129: options contradict each other, or belong to another provider. Exit 128: a key, a port or a terminal is missing.',
    arguments: [
      {
        name: 'TEXT',
        optional: true,
        about: 'the first question or change; `@PATH` attaches a picture (PNG, JPEG, WebP) or a file',
      },
    ],
    options: [...own, ...asked, localChanges, ...machineOptions],
    examples: [
      { line: 'writ code', about: 'on this terminal; `?` shows the keys, /help the commands' },
      { line: 'writ code "What does price() do?"', about: 'start with a question or a change' },
      {
        line: 'git log -5 | writ code --print "What changed?"',
        about: 'no screen: the answer is printed; standard input is attached',
      },
      { line: 'writ code --continue', about: 'continue the last session (thread)' },
      {
        line: 'writ code --goal "`npm test` passes on Windows, too"',
        about: 'run after run, until checks prove the goal (`writ help goal`)',
      },
      { line: 'writ code --web-only', about: 'serve on http://127.0.0.1:3000' },
      {
        line: 'writ code --web-only --port 0 --control write --json',
        about: 'for a script: prints one line with the address',
      },
      {
        line: 'writ code --web --provider ollama --model qwen3:8b --thinking low',
        about: 'a model on this machine',
      },
      { line: 'writ code --acp', about: 'in Zed or another editor (Agent Client Protocol)' },
      { line: 'writ code --web --agent reviewer', about: 'look at the code and change nothing' },
    ],
    streams: true,
    load: async () => (await import('../commands/code.ts')).codeCommand,
  },
];

const thread = { name: 'THREAD', about: 'id of the session, or at least its first 8 characters' } as const;

/** The threads of sessions. */
const threadCommands: readonly CommandSpec[] = [
  {
    name: 'threads list',
    summary: 'list the sessions (threads) of this repository, newest first',
    description: 'Archived threads are listed only with `--archived`.',
    arguments: [],
    options: [
      { name: 'search', value: 'WORDS', about: 'list only threads with these words in the title or the id' },
      { name: 'archived', about: 'list the archived threads instead' },
    ],
    examples: [{ line: 'writ threads list --search price', about: 'threads about prices' }],
    load: async () => (await import('../commands/threads.ts')).threadsCommand,
  },
  {
    name: 'threads archive',
    summary: 'hide a stored session (thread) from lists, without deleting anything',
    arguments: [thread],
    options: [{ name: 'undo', about: 'show the thread in lists again' }],
    examples: [
      { line: 'writ threads archive THREAD', about: 'only `writ threads list --archived` lists the thread' },
    ],
    load: async () => (await import('../commands/threads.ts')).archiveCommand,
  },
  {
    name: 'threads export',
    summary: 'print a thread as Markdown, without secrets',
    arguments: [thread],
    options: [
      { name: 'output', short: 'o', value: 'FILE', about: 'write to this new file instead of stdout' },
    ],
    examples: [{ line: 'writ threads export THREAD -o thread.md', about: 'to share it' }],
    load: async () => (await import('../commands/threads.ts')).exportCommand,
  },
  {
    name: 'threads delete',
    summary: 'delete closed threads and their attachments; commits, runs and records stay',
    arguments: [{ ...thread, optional: true }],
    options: [
      { name: 'older-than', value: 'DAYS', about: 'delete all threads that were not used for DAYS days' },
    ],
    examples: [{ line: 'writ threads delete --older-than 30', about: 'keep the threads of the last month' }],
    load: async () => (await import('../commands/threads.ts')).deleteCommand,
  },
];

/** Programs that steer a session. */
export const sessionCommands: readonly CommandSpec[] = [
  ...threadCommands,
  {
    name: 'usage',
    summary: 'show what the models of all sessions of this repository used, by thread and model',
    arguments: [],
    options: [
      { name: 'since', value: 'DAYS', about: 'count only the model calls of the last DAYS days' },
      { name: 'csv', about: 'print the rows as CSV' },
    ],
    examples: [{ line: 'writ usage --since 30 --csv', about: 'the last month, for a spreadsheet' }],
    load: async () => (await import('../commands/usage.ts')).usageCommand,
  },
  {
    name: 'mcp add',
    summary: 'add an MCP server whose tools a model may use',
    description:
      'Writes `[mcp.NAME]` to your own configuration, for every repository. writ runs COMMAND in the sandbox: a word of COMMAND that is a file of the repository sets `workspace = "read"`, and a file elsewhere sets `directory`. `writ help mcp-servers` explains the rest.',
    arguments: [
      { name: 'NAME', about: 'lower-case letters, digits and `-`' },
      {
        name: 'COMMAND',
        about: 'the program and its arguments',
        optional: true,
        variadic: true,
        behindDashes: true,
      },
    ],
    options: [
      { name: 'url', value: 'URL', about: 'the address of a service, instead of COMMAND' },
      { name: 'token', value: 'SECRET', about: 'with `--url`: the name of the secret that writ sends' },
      { name: 'host', value: 'HOST', repeatable: true, about: 'a host that COMMAND may reach' },
      {
        name: 'env',
        value: 'VARIABLE=SECRET',
        repeatable: true,
        about: 'a variable for COMMAND, and the name of the secret with its value (`writ vault set`)',
      },
      { name: 'tool', value: 'TOOL', repeatable: true, about: 'offer only this tool' },
      { name: 'directory', value: 'DIR', about: 'the directory that the sandbox shows as `/mcp`' },
      project,
    ],
    examples: [
      { line: 'writ mcp add notes -- node ~/mcp/notes/server.js', about: 'a program of your own' },
      {
        line: 'writ mcp add wiki --url https://mcp.example.com/mcp --token WIKI_TOKEN',
        about: 'a service',
      },
    ],
    load: async () => (await import('../commands/mcp.ts')).mcpAddCommand,
  },
  {
    name: 'mcp list',
    summary: 'list the MCP servers of this repository and of the user',
    description: 'In a session `/mcp` lists them, too, with the reason of a failure and their tools.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ mcp list', about: 'also the tables that are not committed yet' }],
    load: async () => (await import('../commands/mcp.ts')).mcpListCommand,
  },
  {
    name: 'mcp remove',
    summary: 'remove an MCP server',
    arguments: [{ name: 'NAME', about: 'a name of `writ mcp list`' }],
    options: [project],
    examples: [{ line: 'writ mcp remove notes', about: 'from your own configuration' }],
    load: async () => (await import('../commands/mcp.ts')).mcpRemoveCommand,
  },
  {
    name: 'code-control',
    summary: 'control a running session from a program: JSON-RPC over standard input and output',
    description:
      'Reads one JSON-RPC 2.0 request on each line, and prints one answer on each line, with event notifications in between. The command controls the session of this working tree that was started with `writ code --control write`. Exit 0: the input ended. Exit 1: no session runs. `writ help code-control.md` lists methods and errors.',
    arguments: [],
    options: [
      { name: 'stdio', about: 'use standard input and output (the only transport)' },
      {
        name: 'url',
        value: 'URL',
        about: 'the session at this loopback address, instead of the session of this working tree',
      },
      {
        name: 'token-file',
        value: 'FILE',
        about:
          'file with the control token of the session; with `--url`, writ sends a token only if you pass this option',
      },
      {
        name: 'info-file',
        value: 'FILE',
        about: 'the discovery file of a session that was started with `--control-info-file`',
      },
    ],
    examples: [
      { line: 'writ code-control --stdio', about: 'the session that runs in this working tree' },
      {
        line: 'writ code-control --stdio --url http://127.0.0.1:3000 --token-file ./token',
        about: 'a session at a known address',
      },
    ],
    streams: true,
    load: () => loadLean(async () => (await import('../commands/code-control.ts')).codeControlCommand),
  },
];
