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
      'no screen: send TEXT (or standard input), print the answer, and end. A change of low risk, or any with `--yes`, is executed; any other waits for `--resume` (exit 4)',
  },
  { name: 'yes', about: 'with `--print`: confirm the draft and its plan, whatever its risk' },
  { name: 'events', about: 'with `--print`: each entry of the transcript as it comes, one JSON line each' },
  { name: 'continue', about: 'go on with the thread that was used last' },
  { name: 'web-only', about: 'the server without a screen' },
  { name: 'web', about: 'the same as `--web-only`' },
  { name: 'plain', about: 'words instead of colours and signs, for a screen reader' },
  { name: 'port', short: 'p', value: 'PORT', about: 'of the web server; default 3000, 0: any that is free' },
  {
    name: 'host',
    value: 'IP',
    about:
      'address that it listens on; default 127.0.0.1. The API answers this machine alone, whatever it is',
  },
  { name: 'cwd', value: 'DIR', about: 'work there instead of in the current directory' },
  {
    name: 'control',
    value: 'MODE',
    choices: ['observe', 'write'],
    about: '`write`: programs of this machine that read the token file may steer; default `observe`',
  },
  {
    name: 'control-token-file',
    value: 'FILE',
    about: 'where that token is put; default `.writ/code/control-token`',
  },
  {
    name: 'control-info-file',
    value: 'FILE',
    about:
      'file that gets the address and the process id; default `.writ/code/control.json` with `--control write`',
  },
  {
    name: 'browser-control',
    value: 'MODE',
    choices: ['off', 'loopback'],
    about:
      'whether a browser of this machine may steer; default off, and `loopback` for `--web-only` with codex',
  },
  {
    name: 'agent',
    value: 'NAME',
    about:
      'an agent profile: words and limits for the model (docs/reference/agents.md); its model wins over `--model`',
  },
  {
    name: 'context',
    value: 'NAME',
    choices: Object.keys(sessionContexts),
    about: 'what the session is for; `review` and `research` only read and never have a network',
  },
  {
    name: 'resume',
    value: 'THREAD',
    // No thread has this name, and no one can give an empty value.
    bare: { means: '', unless: 'words' },
    about: 'go on with that thread; without THREAD: choose one from a list',
  },
  {
    name: 'approval-policy',
    value: 'NAME',
    choices: Object.keys(approvalPolicies),
    about: 'when somebody is asked before a command runs; default `on-request`',
  },
  {
    name: 'approval-ttl',
    value: 'SECONDS',
    about:
      'how long an approval is used again for the same command; default `[approval] ttl_seconds`, else 300',
  },
  {
    name: 'network-access',
    value: 'MODE',
    choices: ['allow', 'deny'],
    about: 'network of commands and checks to start with; default deny',
  },
  { name: 'mcp-port', value: 'PORT', about: 'of the MCP server; default 6789, 0: any that is free' },
  { name: 'stdio', about: 'speak MCP on standard input and output, without a server' },
  { name: 'mcp-stdio', about: 'the same as `--stdio`' },
  {
    name: 'goal',
    value: 'TEXT',
    about: 'begin with this goal, and work until it is verified; at most 16 KiB',
  },
];

/** In a session the default of Codex is another one than in a run. */
const asked: readonly OptionSpec[] = modelOptions.map((option) => {
  if (option.name === 'provider') return { ...option, about: 'the backend that is asked; default gemini' };
  if (option.name === 'plan-mode')
    return {
      ...option,
      about: 'codex: nothing is changed before a plan is approved (true, false; default: true)',
    };
  return option;
});

/** A session with a model. */
export const codeCommands: readonly CommandSpec[] = [
  {
    name: 'code',
    summary: 'work with a model, step by step, in one session',
    description:
      'Shows the session on this terminal (docs/reference/terminal.md), and serves it on the loopback: a page and an API for programs (docs/reference/code.md). What was said, asked and done is a thread on disk before it is acted on, so a session survives a kill. Ctrl+C or SIGTERM ends it with exit 0. Exit 129 for options that contradict each other or belong to another provider, 128 where a key, the port or a terminal is missing.',
    arguments: [{ name: 'TEXT', optional: true, about: 'what to ask or to change first' }],
    options: [...own, ...asked, localChanges, ...machineOptions],
    examples: [
      { line: 'writ code', about: 'on this terminal; `?` shows the keys, /help the commands' },
      { line: 'writ code "What does price() do?"', about: 'begin with a question, or with a change' },
      {
        line: 'git log -5 | writ code --print "What changed?"',
        about: 'no screen: the answer is printed; standard input is attached',
      },
      { line: 'writ code --continue', about: 'go on with the thread that was used last' },
      {
        line: 'writ code --goal "`npm test` passes on Windows, too"',
        about: 'runs follow one another until checks say that it is so (docs/guides/goal.md)',
      },
      { line: 'writ code --web-only', about: 'serve on http://127.0.0.1:3000' },
      {
        line: 'writ code --web-only --port 0 --control write --json',
        about: 'for a script: one line that says where it is served',
      },
      {
        line: 'writ code --web --provider ollama --model qwen3:8b --thinking low',
        about: 'a model of this machine',
      },
      { line: 'writ code --web --agent reviewer', about: 'look at the code and change nothing' },
    ],
    streams: true,
    load: async () => (await import('../commands/code.ts')).codeCommand,
  },
];

const thread = { name: 'THREAD', about: 'its id, or the first 8 characters of it or more' } as const;

/** The threads of sessions. */
const threadCommands: readonly CommandSpec[] = [
  {
    name: 'threads list',
    summary: 'list the threads of sessions in this repository, newest first',
    description: 'Archived threads are listed with `--archived` alone.',
    arguments: [],
    options: [
      { name: 'search', value: 'WORDS', about: 'only those with these words in the title or the id' },
      { name: 'archived', about: 'those that are archived' },
    ],
    examples: [{ line: 'writ threads list --search price', about: 'threads about prices' }],
    load: async () => (await import('../commands/threads.ts')).threadsCommand,
  },
  {
    name: 'threads archive',
    summary: 'take a thread off the lists; nothing of it is deleted',
    arguments: [thread],
    options: [{ name: 'undo', about: 'list it again' }],
    examples: [{ line: 'writ threads archive THREAD', about: 'it is listed by `--archived` only' }],
    load: async () => (await import('../commands/threads.ts')).archiveCommand,
  },
  {
    name: 'threads export',
    summary: 'print a thread as Markdown, without secrets',
    arguments: [thread],
    options: [{ name: 'output', short: 'o', value: 'FILE', about: 'write it to a new file' }],
    examples: [{ line: 'writ threads export THREAD -o thread.md', about: 'to hand it on' }],
    load: async () => (await import('../commands/threads.ts')).exportCommand,
  },
  {
    name: 'threads delete',
    summary: 'delete closed threads and their attachments; commits, runs and records stay',
    arguments: [{ ...thread, optional: true }],
    options: [{ name: 'older-than', value: 'DAYS', about: 'all that were not used for that many days' }],
    examples: [{ line: 'writ threads delete --older-than 30', about: 'keep the threads of the last month' }],
    load: async () => (await import('../commands/threads.ts')).deleteCommand,
  },
];

/** Programs that steer a session. */
export const sessionCommands: readonly CommandSpec[] = [
  ...threadCommands,
  {
    name: 'code-control',
    summary: 'steer a running session from a program: JSON-RPC over standard input and output',
    description:
      'One JSON-RPC 2.0 request on each line, one answer on each line, and notifications of events in between. Finds the session of this work tree that was started with `writ code --control write`, by `.writ/code/control.json`, and its token beside it. Ends when its input ends and everything is answered: exit 0; exit 1 where no session runs. Methods and errors: docs/guides/code-control.md.',
    arguments: [],
    options: [
      { name: 'stdio', about: 'speak over standard input and output (the only way there is)' },
      {
        name: 'url',
        value: 'URL',
        about: 'the session at this loopback address, instead of the one that is found here',
      },
      {
        name: 'token-file',
        value: 'FILE',
        about: 'its control token; with `--url` none is sent unless this says which',
      },
      {
        name: 'info-file',
        value: 'FILE',
        about: 'the discovery file of a session that was started with `--control-info-file`',
      },
    ],
    examples: [
      { line: 'writ code-control --stdio', about: 'the session that runs in this work tree' },
      {
        line: 'writ code-control --stdio --url http://127.0.0.1:3000 --token-file ./token',
        about: 'one at a known address',
      },
    ],
    streams: true,
    load: () => loadLean(async () => (await import('../commands/code-control.ts')).codeControlCommand),
  },
];
