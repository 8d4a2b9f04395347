/** The MCP tools for version control. */
import { WritError } from '../../core/base/errors.ts';
import { object, oneOf, says } from '../../core/base/schema.ts';
import { answerVcsQuestion } from '../vcs/answer-vcs-question.ts';
import { makeVcsChange, openSessionRepository, planVcsChange } from '../vcs/change-repository.ts';
import { parseVcsCall, type VcsCall } from '../vcs/parse-vcs-call.ts';
import { type McpTool, type ToolCall, type ToolOutcome, toolOf, wordList } from './tool.ts';

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

function wordsOf({ command, args = [] }: VcsWords): readonly string[] {
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
  await allow(planned, wordsOf(given));
  const output = plainText(await makeVcsChange(repository, planned, signal));
  return { data: { command: change.command, output, truncated: false }, text: output };
}

/** Removes control characters and bidirectional overrides. */
function plainText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd').toWellFormed();
}
