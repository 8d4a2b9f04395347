/* The tools of the MCP server: read-only writ commands, and version control. */
import { compact } from '../../api/envelope.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
import { WritError } from '../../core/base/errors.ts';
import { normalisePattern } from '../../core/base/glob.ts';
import { count, object, oneOf, says } from '../../core/base/schema.ts';
import { type SchemaNode, schemaRoot } from '../../spec/document-schema.ts';
import { realPathIn } from '../../workspace/command-acl/command-paths.ts';
import { answerVcsQuestion, parseVcsCall, type VcsCall } from '../vcs/answer-vcs-question.ts';
import { makeVcsChange, openSessionRepository, planVcsChange } from '../vcs/change-repository.ts';
import {
  fitData,
  type McpTool,
  type ToolCall,
  type ToolOutcome,
  ToolRefusal,
  toolOf,
  type WritAnswer,
  word,
  wordList,
  wrong,
} from './tool.ts';

type ErrorRecord = NonNullable<WritAnswer['error']>;

const hidden = '…';

/**
 * The answer of `writ spec validate` or `writ plan` without words of the file: what a client may not read could
 * otherwise be read by validating it. Kept are codes, the names and values of the IntentSpec's own schema, and what was
 * expected. The data of a plan is of a valid spec, and stays.
 */
function withoutFileContents({ data, error }: WritAnswer): WritAnswer {
  const { files } = (data ?? {}) as { readonly files?: readonly Validated[] };
  return {
    ...(data === undefined
      ? {}
      : { data: Array.isArray(files) ? { ...data, files: files.map(toKnownFile) } : data }),
    ...(error === undefined
      ? {}
      : { error: error.code.startsWith('INTENTSPEC_') ? toKnownError(error) : error }),
  };
}

interface Issue {
  readonly code?: string;
  readonly path?: string;
  readonly message?: string;
  readonly severity?: string;
}

interface Validated {
  readonly path?: string;
  readonly valid?: boolean;
  readonly digest?: string | null;
  readonly issues?: readonly Issue[];
}

function toKnownFile({ path, valid, issues = [], digest = null }: Validated): Validated {
  return { path: path ?? '', valid: valid === true, issues: issues.map(toKnownIssue), digest };
}

function toKnownIssue({ code, path, message, severity }: Issue): Issue {
  return {
    code: code ?? '',
    path: toKnownPointer(path ?? ''),
    message: toKnownMessage(message ?? ''),
    severity: severity ?? 'error',
  };
}

function toKnownError({ details: { issues, ...details } = {}, ...error }: ErrorRecord): ErrorRecord {
  const { reason, invalid } = details;
  return {
    ...error,
    message: toKnownMessage(error.message),
    details: {
      ...compact({ reason, invalid }),
      ...(Array.isArray(issues) ? { issues: issues.map(toKnownIssue) } : {}),
    },
  };
}

let words: ReadonlySet<string> | undefined;

/** Names of properties, and the values that the schema lists. */
function knownWords(): ReadonlySet<string> {
  words ??= new Set(wordsOf(schemaRoot));
  return words;
}

function* wordsOf(node: SchemaNode): Generator<string> {
  yield* node.enum ?? [];
  if (typeof node.const === 'string') yield node.const;
  for (const [name, inner] of Object.entries(node.properties ?? {})) {
    yield name;
    yield* wordsOf(inner);
  }
  for (const inner of Object.values(node.$defs ?? {})) yield* wordsOf(inner);
  if (node.items !== undefined) yield* wordsOf(node.items);
  if (typeof node.additionalProperties === 'object') yield* wordsOf(node.additionalProperties);
}

function toKnownPointer(pointer: string): string {
  return pointer
    .split('/')
    .map((part) => (part === '' || /^\d{1,6}$/.test(part) || knownWords().has(part) ? part : hidden))
    .join('/');
}

/** What was found is of the file, and so is what is quoted and not a word of the schema. */
function toKnownMessage(message: string): string {
  const [expected = ''] = message.split(/[,;:]? found /, 1);
  return expected.replaceAll(
    /`([^`]*)`?/g,
    (_, word: string) => `\`${knownWords().has(word) ? word : hidden}\``,
  );
}

const maxPath = 1024;
const maxAnswerBytes = 256 * 1024;

const validateSpec = toolOf({
  name: 'validate_spec',
  title: 'Validate an IntentSpec',
  description:
    'Validates an IntentSpec file as `writ spec validate` does: every broken place with its JSON pointer, and what a run would be refused for. Nothing is run, and nothing that the file holds is repeated.',
  arguments: object('an object', {
    path: says(word(maxPath), 'the file, relative to the working directory'),
  }),
  reads: true,
  call: (given, call) => ask(call, ['spec', 'validate', '--', fileIn(call, given.path)], withoutFileContents),
});

const planSpec = toolOf({
  name: 'plan_spec',
  title: 'Plan a run',
  description:
    'What a run of an IntentSpec would do, task by task and stage by stage, and everything that it would be refused for. Nothing is run and nothing is written.',
  arguments: object('an object', {
    path: says(word(maxPath), 'the IntentSpec, relative to the working directory'),
  }),
  reads: true,
  call: (given, call) => ask(call, ['plan', '--', fileIn(call, given.path)], withoutFileContents),
});

const scanChange = toolOf({
  name: 'scan_change',
  title: 'Scan a change',
  description:
    'Asks the rules about a change (secrets, evaluated code, vanished tests, dependencies …) of a range of commits or, without one, of what is not committed yet. Findings have a rule, a severity, a path and a line.',
  arguments: object('an object', {}, { range: says(word(512), '`A..B`; without it: what is not committed') }),
  reads: true,
  call: ({ range }, call) => ask(call, ['scan', ...(range === undefined ? [] : [`--range=${range}`])]),
});

const listRuns = toolOf({
  name: 'list_runs',
  title: 'List runs',
  description: 'The runs of this repository, newest first, and drafts that wait for a person.',
  arguments: object('an object', {}, { limit: says(count(1, 500), 'how many; default 50') }),
  reads: true,
  call: async ({ limit: most = 50 }, call) => {
    const { data } = await ask(call, ['runs']);
    const { runs = [] } = data as { readonly runs?: readonly unknown[] };
    return runs.length <= most
      ? { data }
      : { data: { ...data, runs: runs.slice(0, most), truncated: { runs: runs.length } } };
  },
});

const showRun = toolOf({
  name: 'show_run',
  title: 'Show a run',
  description: 'One run in full: spec, stages, checks, findings, artifacts, decision, provenance.',
  arguments: object('an object', { run: says(word(128), 'its id, or the beginning of it') }),
  reads: true,
  call: ({ run }, call) => ask(call, ['show', '--', nameOf(run)]),
});

const verify = toolOf({
  name: 'verify',
  title: 'Verify sealed changes',
  description:
    'Verifies runs, commits, refs or evidence files offline, by the trust anchors of this user, as `writ verify` does: what is proven, by whom, and what is not.',
  arguments: object('an object', {
    targets: says(wordList(20), 'a run id, a commit, a ref, or a file in the working directory; 1 to 20'),
  }),
  reads: true,
  call: ({ targets: given }, call) => {
    const targets = given.map((one) => targetIn(call, one));
    if (targets.length === 0) throw wrong('targets', '`targets` to be at least one', 'none');
    return ask(call, ['verify', '--', ...targets]);
  },
});

/** Commands of writ that change nothing. They return the same data as `--json`. */
export const writTools: readonly McpTool[] = [validateSpec, planSpec, scanChange, listRuns, showRun, verify];

/** A refusal keeps the data that a yes would have. */
async function ask(
  { ground, signal }: ToolCall,
  words: readonly string[],
  change: (answer: WritAnswer) => WritAnswer = (answer) => answer,
): Promise<ToolOutcome & { data: JsonData }> {
  const { data, error } = change(await ground.ask(words, signal));
  const fitted = data === undefined ? undefined : fitData(data, maxAnswerBytes);
  if (error !== undefined) throw new ToolRefusal(error, fitted);
  return { data: fitted ?? {} };
}

/** A path in the working directory, after symlinks are resolved. */
function fileIn({ ground }: ToolCall, word: string): string {
  const path = normalisePattern(word);
  const isInside = path !== undefined && realPathIn(ground.cwd, path) !== undefined;
  if (!isInside || path.startsWith('-'))
    throw wrong('path', '`path` to be a path inside the working directory, relative to it', word);
  return path;
}

/** A name of a run, a commit or a ref; or a path, which has to be inside. */
function targetIn(call: ToolCall, word: string): string {
  if (/^[0-9A-Za-z][\w.-]*(?:[~^]\d{0,3})*$/.test(word) && realPathIn(call.ground.cwd, word) !== undefined)
    return word;
  if (/^refs\/[\w./-]+$/.test(word) && !word.includes('..')) return word;
  return fileIn(call, word);
}

function nameOf(word: string): string {
  if (/^[0-9A-Za-z][\w.-]*$/.test(word)) return word;
  throw wrong('run', '`run` to be the id of a run', word);
}

const maxText = 64 * 1024;
const maxArguments = 64;
const longestMs = 120_000;
const reading = ['status', 'diff', 'branch', 'log', 'show', 'show-ref', 'ls-files'] as const;

const argumentsOf = <const Command extends string>(...commands: readonly Command[]) =>
  object(
    'an object',
    { command: says(oneOf(...commands), 'the subcommand') },
    {
      args: says(
        wordList(maxArguments),
        'its arguments, one string each, without a shell: paths are relative to the root of the repository and follow `--`',
      ),
    },
  );

/** `run_writ_vcs`: ten subcommands in the session's repository. */
const runVcs = toolOf({
  name: 'run_writ_vcs',
  title: 'Version control',
  description:
    'Runs one of ten version control subcommands in the repository of this session: status, diff, branch, log, show, show-ref, ls-files, and, where the approval policy lets them, add, commit, switch, `branch NAME` and `branch -d NAME`. It is no shell and no git: hooks, pagers, filters, aliases and external programs never run. For the state prefer `status --json` or `status --porcelain v2 --untracked-files=all`; `ls-files --others --exclude-standard` lists untracked paths. `commit -m MESSAGE` commits what `add` has staged.',
  arguments: argumentsOf(...reading, 'add', 'commit', 'switch'),
  reads: false,
  call: (given, call) => {
    const read = readCall(given);
    return read.question === undefined ? changeBy(read.change, given, call) : answerTo(read.question, call);
  },
});

/** The read-only sibling of the tool. It declares that, so clients may run it unattended. */
const readVcs = toolOf({
  name: 'read_writ_vcs',
  title: 'Version control, reading only',
  description:
    'The seven subcommands of `run_writ_vcs` that change nothing: status, diff, branch (listing), log, show, show-ref, ls-files. For the state prefer `status --json`.',
  arguments: argumentsOf(...reading),
  reads: true,
  call: (given, call) => {
    const read = readCall(given);
    if (read.question === undefined) throw refusedWords('this tool changes nothing: `run_writ_vcs` does');
    return answerTo(read.question, call);
  },
});

export const vcsTools: readonly McpTool[] = [runVcs, readVcs];

function readCall({ command, args = [] }: VcsWords): VcsCall {
  const call = parseVcsCall(command, args);
  if (typeof call === 'string') throw refusedWords(call);
  return call;
}

interface VcsWords {
  readonly command: string;
  readonly args?: readonly string[];
}

function commandWords({ command, args = [] }: VcsWords): readonly string[] {
  return [command, ...args];
}

function refusedWords(message: string): WritError {
  return new WritError('TOOL_ARGUMENTS', { message });
}

async function answerTo(
  question: NonNullable<VcsCall['question']>,
  { ground, signal }: ToolCall,
): Promise<ToolOutcome> {
  const repository = await openSessionRepository(ground.cwd);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  const { text, state } = await answerVcsQuestion(repository, question, inTime);
  const shown = plainText(text);
  const isWhole = state !== undefined || shown.length <= maxText;
  const output = isWhole
    ? shown
    : `${shown.slice(0, maxText)}\n[cut: ${shown.length} characters in all; name a path]`;
  return {
    data: {
      command: question.command,
      ...(state === undefined ? { output, truncated: !isWhole } : { state: { ...state } }),
    },
    text: output,
  };
}

async function changeBy(
  change: NonNullable<VcsCall['change']>,
  given: VcsWords,
  { ground, signal, allow }: ToolCall,
): Promise<ToolOutcome> {
  const repository = await openSessionRepository(ground.cwd);
  const planned = await planVcsChange(repository, change, signal);
  await allow(planned, commandWords(given));
  const output = plainText(await makeVcsChange(repository, planned, signal));
  return { data: { command: change.command, output, truncated: false }, text: output };
}

/** Removes control characters and bidirectional overrides. */
function plainText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd').toWellFormed();
}
