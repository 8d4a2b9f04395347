/** A tool use, its classification, and the key that an approval is bound to. */
import path from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ToolRequest } from '../../core/interfaces/hook-payload.ts';
import { codeActions } from '../../core/interfaces/worker.ts';
import { commandsOf, wordsOf } from '../../workspace/shell/shell.ts';
import { type ClassifiedCommand, classifyCommand, type UseClass } from './classify-command.ts';
import type { Danger } from './danger.ts';

/** A tool call that rules and scope let through, about to be made for a session. */
export interface ToolUse {
  /** Of this one call; no other has it. */
  readonly id: string;
  readonly request: Pick<
    ToolRequest,
    'runId' | 'tool' | 'action' | 'command' | 'paths' | 'query' | 'arguments' | 'task'
  >;
  /** All words of a tool that has words instead of shell text (`vcs`). */
  readonly argv?: readonly string[];
  /** Where it works: absolute, every symbolic link resolved. */
  readonly cwd: string;
  /** `sandboxDigest` of what confines it, or would where it is to leave the sandbox. */
  readonly sandbox: string;
  /** Full name of the branch that the work is for; the commit where there is none. */
  readonly branch: string;
  /** The call requests to run outside the sandbox. */
  readonly isOutside: boolean;
}

/** Whether it runs shell text. */
export function isCommand({ request: { tool, action } }: Pick<ToolUse, 'request'>): boolean {
  return tool === 'workspace.command' && action === 'execute';
}

/** The exact content of a use: argv of one plain command, or its text. Absent: not known exactly. */
type UseSubject =
  | { readonly form: 'argv'; readonly words: readonly string[] }
  | { readonly form: 'text'; readonly text: string };

/**
 * The argv of a text that is one simple command in literal words. Any other text is its own subject, verbatim. For a
 * tool that is not a command: its words, paths and query.
 */
export function subjectOf(use: Pick<ToolUse, 'request' | 'argv'>): UseSubject | undefined {
  const { command, paths, query } = use.request;
  if (isCommand(use)) return command === undefined ? undefined : subjectOfText(command);
  if (use.argv !== undefined) return { form: 'argv', words: use.argv };
  // Beside its words a request of version control holds them cut; of the web what may be kept of them.
  if (use.request.tool === 'vcs' || command !== undefined) return undefined;
  if (query !== undefined) {
    const isWhole = query.length < longestWholeQuery && !query.includes('[redacted:');
    return isWhole ? { form: 'text', text: query } : undefined;
  }
  return paths === undefined || paths.length === 0 ? undefined : { form: 'argv', words: paths };
}

/** Characters of a web query that a request can hold. */
const longestWholeQuery = 500;

/** Words of a text that is exactly one simple command in literal words. */
function plainArgv(text: string): readonly string[] | undefined {
  const reading = commandsOf(text);
  // One command: a line break between two would else pass for a blank.
  if (!reading.ok || reading.commands.length !== 1 || reading.redirects.length > 0) return undefined;
  return reading.commands[0]?.assignments.length === 0 ? wordsOf(text) : undefined;
}

function subjectOfText(text: string): UseSubject {
  const words = plainArgv(text);
  return words === undefined ? { form: 'text', text } : { form: 'argv', words };
}

const keyDomain = 'urn:writ:approval-key:v1';
const subjectDomain = 'urn:writ:approval-subject:v1';
const sandboxDomain = 'urn:writ:sandbox-policy:v1';

/**
 * The key of an approval: exact argv or text, real working directory, sandbox policy, branch. Nothing is normalised.
 * `undefined` if the use is not known exactly.
 */
export function approvalKey(use: ToolUse): string | undefined {
  const subject = subjectDigest(use);
  if (!path.isAbsolute(use.cwd) || path.normalize(use.cwd) !== use.cwd || /.[/\\]$/.test(use.cwd))
    throw new WritError('INTERNAL', { message: 'expected a real path as the working directory of a use' });
  return subject && digest(keyDomain, [subject, use.cwd, use.sandbox, use.branch]);
}

/** The same without where and in which sandbox: what is to be done, exactly. */
export function subjectDigest(use: Pick<ToolUse, 'request' | 'argv'>): string | undefined {
  const subject = subjectOf(use);
  if (subject === undefined) return undefined;
  const exact = subject.form === 'argv' ? subject.words : [subject.text];
  return digest(subjectDomain, [use.request.tool, use.request.action, subject.form, ...exact]);
}

/** What confines a command, as far as it decides what the command may do. */
export interface SandboxPolicy {
  /** Name of the back end. `none` if commands are not confined. */
  readonly backend: string;
  readonly network: 'deny' | 'allow';
  /** Hosts that are opened. */
  readonly hosts: readonly string[];
  /** Absolute places that may be written. */
  readonly writes: readonly string[];
}

/** The digest of a sandbox policy: any difference is another one, another order included. */
export function sandboxDigest({ backend, network, hosts, writes }: SandboxPolicy): string {
  return digest(sandboxDomain, [backend, network, `${hosts.length}`, ...hosts, ...writes]);
}

/** JSON of an array of strings is canonical (RFC 8785) and also distinguishes lone surrogates. */
function digest(domain: string, parts: readonly string[]): string {
  return sha256Hex(JSON.stringify([domain, ...parts]));
}

type UseKind = 'command' | 'reading' | 'writing' | 'web' | 'version-control' | 'mcp' | 'other';

/** The classification of a use, from its request alone. */
export interface ClassifiedUse extends Danger {
  readonly kind: UseKind;
  readonly class: UseClass;
  /** Of a command. */
  readonly command?: ClassifiedCommand;
}

const reading: ReadonlySet<string> = new Set([
  'workspace.fs read',
  'workspace.search search',
  'vcs read',
  ...codeActions.map((action) => `workspace.lsp ${action}`),
]);
const writing: ReadonlySet<string> = new Set(['workspace.fs write', 'workspace.fs delete']);

/** Classifies a use. An unknown tool is `other`. Pure. */
export function classifyUse(use: Pick<ToolUse, 'request'>): ClassifiedUse {
  const { tool, action, command = '' } = use.request;
  if (isCommand(use)) {
    const judged = classifyCommand(command);
    return { kind: 'command', class: judged.class, rule: judged.rule, why: judged.why, command: judged };
  }
  const name = `${tool} ${action}`;
  if (reading.has(name)) return { kind: 'reading', class: 'safe', rule: 'reads', why: 'it only reads' };
  if (tool === 'workspace.command')
    return {
      kind: 'reading',
      class: 'safe',
      rule: 'own-command',
      why: 'it looks at or stops an allowed command',
    };
  if (writing.has(name))
    return {
      kind: 'writing',
      class: 'unknown',
      rule: 'writes',
      why: 'it changes files in the scope of the plan',
    };
  if (tool === 'web.search')
    return { kind: 'web', class: 'unknown', rule: 'web', why: 'it asks another machine' };
  if (tool === 'vcs' && action === 'write')
    return {
      kind: 'version-control',
      class: 'unknown',
      rule: 'vcs-write',
      why: 'it changes what version control holds, outside any sandbox',
    };
  if (tool.startsWith('mcp.'))
    return {
      kind: 'mcp',
      class: 'unknown',
      rule: 'mcp',
      why: action === 'start' ? 'it starts an MCP server' : 'it is a tool of an MCP server',
    };
  return { kind: 'other', class: 'unknown', rule: 'not-known', why: 'what that tool does is unknown here' };
}

/** Whether the use changes files that the scope of a plan bounds. */
export function isScoped(use: Pick<ToolUse, 'request' | 'isOutside'>): boolean {
  return !use.isOutside && classifyUse(use).kind === 'writing';
}

/** Programs with subcommands, or that only check files: how many words identify what they do. */
const subcommands: ReadonlyMap<string, number> = new Map(
  [
    [
      '0',
      'tsc eslint biome prettier jest vitest mocha ava tap pytest mypy pyright flake8 black isort rustfmt gofmt golangci-lint phpunit ctest shellcheck markdownlint stylelint',
    ],
    [
      '1',
      'npm pnpm yarn cargo go dotnet mvn gradle make gmake just task ruff uv poetry tox nox bundle rake composer swift mix sbt zig turbo nx lerna',
    ],
  ].flatMap(([count, names = '']) => names.split(' ').map((name): [string, number] => [name, Number(count)])),
);

/** Subcommands that run the script named by the next word, which then belongs to the pattern. */
const running = /^(?:run|run-script|task|script)$/;

/** Subcommands that run any program, or change what others will run. */
const never =
  /^(?:exec|x|dlx|create|init|config|set|add|install|i|ci|link|publish|login|remove|uninstall|update|upgrade|self|tool|env|generate|eval)$/;

const plainWord = /^[A-Za-z][\w:.@/-]*$/;

/**
 * The words that `approve_pattern_ttl` covers: program and subcommand, all literal, at the start of one plain
 * command. `undefined`: there is no pattern, and the option covers only that exact command. Only listed programs have
 * a pattern. Shells, interpreters, wrappers and programs that run other programs have none.
 */
export function commandPattern(
  use: Pick<ToolUse, 'request'>,
  judged: { readonly class: UseClass },
): readonly string[] | undefined {
  if (!isCommand(use) || judged.class === 'dangerous') return undefined;
  const words = plainArgv(use.request.command ?? '');
  const [program = '', ...args] = words ?? [];
  const count = subcommands.get(program);
  if (count === undefined) return undefined;
  if (count === 0) return [program];
  const [subcommand = '', subject = ''] = args;
  if (!plainWord.test(subcommand) || never.test(subcommand)) return undefined;
  if (!running.test(subcommand)) return [program, subcommand];
  // The next word names a script of the project only for these programs; `go run` accepts any package.
  const isScript = /^(?:npm|pnpm|yarn)$/.test(program) && plainWord.test(subject);
  return isScript ? [program, subcommand, subject] : undefined;
}

/** Whether a use is one plain command that begins with these words. */
export function matchesPattern(use: Pick<ToolUse, 'request'>, pattern: readonly string[]): boolean {
  if (!isCommand(use) || pattern.length === 0) return false;
  const words = plainArgv(use.request.command ?? '');
  return words !== undefined && pattern.every((word, index) => words[index] === word);
}
