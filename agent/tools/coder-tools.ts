/* The tools that a model may call while it works on a Task. */
import { isUtf8 } from 'node:buffer';
import type { ToolCall } from '../../core/interfaces/model.ts';
import type {
  CodeAction,
  CodeUse,
  HandAnswer,
  Hands,
  McpDoor,
  TaskOrder,
  Web,
  WebUse,
} from '../../core/interfaces/worker.ts';
import { applyHunks, EnvelopeFault, type EnvelopeSection, readEnvelope } from '../patch/apply-hunks.ts';
import {
  type CoderTool,
  declarationOf,
  readArguments,
  type ToolArgument,
  type ToolArguments,
  type ToolOutcome,
} from './tool.ts';
import { recordDecision, updatePlan } from './update-plan.ts';

/** Read-only access for a model. */
interface Looking {
  readonly hands: Hands;
  /** Searched only; absent: the network is closed. */
  readonly web?: Web;
  readonly mcp?: McpDoor;
}

function readingTools({ web }: Pick<Looking, 'web'>): readonly CoderTool[] {
  return [readFile, listDir, grepFiles, ...(web?.actions.includes('search') ? [webSearch] : [])];
}

/** The declarations of the tools that the model gets. */
export function readingDeclarations(looking: Pick<Looking, 'web' | 'mcp'> = {}) {
  return [...readingTools(looking).map(declarationOf), ...(looking.mcp?.tools ?? [])];
}

/** What a call of one of them came to, for the model; a call of any other is answered with their names. */
export async function useReading(
  { name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>,
  { hands, web, mcp }: Looking,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tools = readingTools({ ...(web && { web }) });
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return useMcp({ name, arguments: given }, mcp, tools);
  const parsed = readArguments(tool, given);
  return 'wrong' in parsed
    ? { text: parsed.wrong, isError: true }
    : tool.use(parsed.given, hands, { ...(web && { web }) });
}

/** A call of a tool that is not ours: one of an MCP server, or none. */
export async function useMcp(
  { name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>,
  mcp: McpDoor | undefined,
  own: readonly CoderTool[],
): Promise<ToolOutcome> {
  const others = mcp?.tools ?? [];
  if (mcp !== undefined && others.some((one) => one.name === name))
    return outcomeOf(await mcp.use(name, given));
  const known = [...own, ...others].map((one) => one.name).join(', ');
  return { text: `there is no such tool; there is ${known}`, isError: true };
}

function outcomeOf({ outcome, text }: Pick<HandAnswer, 'outcome' | 'text'>): ToolOutcome {
  return { text: text === '' ? '[nothing]' : text, isError: outcome !== 'done' };
}

const readFile: CoderTool = {
  name: 'read_file',
  says: 'Reads a text file of the repository, with line numbers. Long files are read in parts.',
  takes: {
    path: { type: 'string', says: 'relative to the repository' },
    from_line: { type: 'integer', says: 'first line, from 1', optional: true },
    lines: { type: 'integer', says: 'how many, at most 2000', optional: true },
  },
  async use({ path, from_line: fromLine, lines }, hands) {
    const from = fromLine === undefined ? {} : { fromLine: Number(fromLine) };
    const many = lines === undefined ? {} : { lines: Number(lines) };
    return outcomeOf(await hands.use({ kind: 'read', path: String(path), ...from, ...many }));
  },
};

const listDir: CoderTool = {
  name: 'list_dir',
  says: 'Lists a directory of the repository; directories end with a slash.',
  takes: { path: { type: 'string', says: 'relative to the repository; `.` is its top' } },
  use: async ({ path }, hands) => outcomeOf(await hands.use({ kind: 'list', path: String(path) })),
};

const grepFiles: CoderTool = {
  name: 'grep_files',
  says: 'Searches files for lines that match a POSIX extended regular expression.',
  takes: {
    pattern: { type: 'string', says: 'the expression' },
    path: { type: 'string', says: 'file or directory; default: everything', optional: true },
  },
  use: async ({ pattern, path = '.' }, hands) =>
    outcomeOf(await hands.use({ kind: 'search', pattern: String(pattern), path: String(path) })),
};

const shell: CoderTool = {
  name: 'shell',
  says: 'Runs a shell command in the repository, in a sandbox. The contract says which commands are allowed.',
  takes: {
    command: { type: 'string', says: 'one command line' },
    timeout_seconds: { type: 'integer', says: 'default 120; in the background 1800', optional: true },
    background: {
      type: 'boolean',
      says: 'true: returns an id at once, for command_output and stop_command. Each command has a network of its own; files are shared. Ends with the task',
      optional: true,
    },
  },
  async use({ command, timeout_seconds: timeoutSeconds, background = false }, hands) {
    const answer = await hands.use({
      kind: background === true ? 'background' : 'execute',
      command: String(command),
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds: Number(timeoutSeconds) }),
    });
    const { text, isError } = outcomeOf(answer);
    return { text: answer.exitCode ? `${text}\n[exit code ${answer.exitCode}]` : text, isError };
  },
};

const id: ToolArgument = { type: 'string', says: 'what `shell` returned' };

/** For the commands that `shell` started in the background. */
const commandTools: readonly CoderTool[] = [
  {
    name: 'list_commands',
    says: 'Lists your commands in the background: id, whether it runs or how it ended, command.',
    takes: {},
    use: async (_given, hands) => outcomeOf(await hands.use({ kind: 'command', action: 'list' })),
  },
  {
    name: 'command_output',
    says: 'Returns what a command in the background printed since you last looked, and how it ended.',
    takes: { id },
    use: async (given, hands) =>
      outcomeOf(await hands.use({ kind: 'command', action: 'output', id: String(given.id) })),
  },
  {
    name: 'stop_command',
    says: 'Kills a command in the background with all its processes.',
    takes: { id },
    use: async (given, hands) =>
      outcomeOf(await hands.use({ kind: 'command', action: 'stop', id: String(given.id) })),
  },
];

async function ask(web: Web | undefined, use: WebUse): Promise<ToolOutcome> {
  if (web === undefined) return { text: 'denied: the contract opens nothing', isError: true };
  return outcomeOf(await web.use(use));
}

const webSearch: CoderTool = {
  name: 'web_search',
  says: 'Searches the web. Results have a title, an address and a few words, each with a tier of trust. Nothing of this repository belongs into a query.',
  takes: { query: { type: 'string', says: 'a few words' } },
  wants: 'search',
  use: ({ query }, _hands, { web }) => ask(web, { kind: 'search', query: String(query) }),
};

const readPage: CoderTool = {
  name: 'read_page',
  says: 'Reads a page of the web as text.',
  takes: { url: { type: 'string', says: 'its address' } },
  wants: 'read',
  use: ({ url }, _hands, { web }) => ask(web, { kind: 'read', url: String(url) }),
};

/** Read-only version control: a run has no tool that changes it. */
const runWritVcs: CoderTool = {
  name: 'run_writ_vcs',
  says: 'Queries version control: status, diff, branch, log, show, show-ref, ls-files. `status --json` and `diff` show what you changed. Commits are `HEAD`, `HEAD~1` or an id; `show COMMIT:PATH` is a file. add, commit and switch need a person: leave the files as they shall be.',
  takes: {
    command: { type: 'string', says: 'the subcommand' },
    args: { type: 'strings', says: 'its arguments, one word each', optional: true },
  },
  wants: 'history',
  async use({ command, args }, hands) {
    const words = Array.isArray(args) ? args : [];
    return outcomeOf(await hands.use({ kind: 'vcs', command: String(command), args: words }));
  },
};

/** The only way for a model to end its attempt. Its claims are shown to people, and no check uses them. */
const submitTaskComplete: CoderTool = {
  name: 'submit_task_complete',
  says: 'Ends the task: everything is done, or it cannot be done. Call it alone.',
  takes: {
    complete: { type: 'boolean', says: 'false where the task cannot be done' },
    summary: { type: 'string', says: 'what was done, or why it cannot be' },
  },
  async use({ complete, summary }) {
    return { text: 'ended', isError: false, ends: { complete: complete === true, summary: String(summary) } };
  },
};

const maxOptions = 20;
const noOne =
  'no one is there to answer. Decide by what the contract and the repository say and record it with record_decision; if neither answers it, end the task as not complete and say what has to be known.';

/**
 * A question to a person. In a run without a session, the model decides and records the decision for people to read.
 */
const requestUserInput: CoderTool = {
  name: 'request_user_input',
  says: 'Asks the person a question. In a run no one is there to answer: then decide by what the contract says, and record the decision.',
  takes: {
    question: { type: 'string', says: 'one question, with what depends on the answer' },
    options: { type: 'string', says: 'answers to choose from, one a line', optional: true },
    secret: {
      type: 'boolean',
      says: 'true if the answer is a password, a key or the like: it is not shown and not stored',
      optional: true,
    },
  },
  async use({ question, options = '', secret = false }, _hands, { person }) {
    if (person === undefined) return { text: noOne, isError: false };
    const listed = String(options)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    if (listed.length > maxOptions)
      return { text: `expected at most ${maxOptions} options, found ${listed.length}`, isError: true };
    const isSecret = secret === true;
    if (isSecret && listed.length > 0)
      return { text: 'a secret is typed, never chosen: ask without `options`', isError: true };
    const answer = await person.answer({
      question: String(question),
      options: [...new Set(listed)],
      ...(isSecret ? { isSecret } : {}),
    });
    return answer === undefined ? { text: noOne, isError: false } : { text: answer, isError: false };
  },
};

/** The same where somebody is there. */
function toldOfPerson(tool: CoderTool, { person }: Pick<TaskOrder, 'person'>): CoderTool {
  if (tool !== requestUserInput || person === undefined) return tool;
  return { ...tool, says: 'Asks the person a question, and waits for the answer.' };
}

const path: ToolArgument = { type: 'string', says: 'file, relative to the repository' };
const line: ToolArgument = { type: 'integer', says: 'its line, from 1', optional: true };
const symbol: ToolArgument = { type: 'string', says: 'the name as written there, without dots' };

function codeTool(
  name: string,
  action: CodeAction,
  says: string,
  takes: CoderTool['takes'],
  toUse: (given: ToolArguments) => Omit<CodeUse, 'kind' | 'action'>,
): CoderTool {
  return {
    name,
    says,
    takes,
    wantsCode: action,
    async use(given, hands) {
      return outcomeOf(await hands.use({ kind: 'code', action, ...toUse(given) }));
    },
  };
}

function atName({ path: file, line: number, symbol: name }: ToolArguments) {
  return {
    path: String(file),
    symbol: String(name),
    ...(number === undefined ? {} : { line: Number(number) }),
  };
}

/** Language server queries on the current code, the model's own changes included. */
const codeTools: readonly CoderTool[] = [
  codeTool('hover', 'hover', 'Type and documentation of a name.', { path, symbol, line }, atName),
  codeTool('goto_definition', 'goto-definition', 'Where a name is defined.', { path, symbol, line }, atName),
  codeTool(
    'find_references',
    'find-references',
    'Everywhere a name is used, in all files; what grep_files takes for it and is another is left out.',
    { path, symbol, line },
    atName,
  ),
  codeTool('document_symbols', 'document-symbols', 'What a file defines.', { path }, (given) => ({
    path: String(given.path),
  })),
  codeTool(
    'workspace_symbols',
    'workspace-symbols',
    'Where in the repository something of this name is defined; a part of the name will do.',
    { name: { type: 'string', says: 'the name' } },
    (given) => ({ path: '.', symbol: String(given.name) }),
  ),
  codeTool(
    'diagnostics',
    'diagnostics',
    'Errors and warnings of a file in its present state. Call it after a change.',
    { path },
    (given) => ({ path: String(given.path) }),
  ),
  codeTool(
    'preview_rename',
    'preview-rename',
    'What renaming a name would change, in all files. Nothing is changed: do it with apply_patch.',
    { path, symbol, line, new_name: { type: 'string', says: 'the new name' } },
    (given) => ({ ...atName(given), newName: String(given.new_name) }),
  ),
];

/** The new state of one file. A patch is written only after all of it is known to fit. */
interface Change {
  readonly path: string;
  /** Absent: it goes. */
  readonly text?: string;
}

const applyPatch: CoderTool = {
  name: 'apply_patch',
  says: `Changes files. The patch has this form:
*** Begin Patch
*** Update File: path/of/file
@@ a line above the change
 a line that stays
-a line that goes
+a line that comes
*** Add File: path/of/new
+every line with a plus
*** Delete File: path/of/old
*** End Patch
Three lines of context around each change; nothing is written unless all of it fits the files.`,
  takes: { patch: { type: 'string', says: 'the patch' } },
  async use({ patch }, hands) {
    const changes: Change[] = [];
    try {
      for (const section of readEnvelope(String(patch)))
        changes.push(...(await toChanges(section, hands, changes)));
    } catch (fault) {
      if (fault instanceof EnvelopeFault)
        return { text: `the patch was not applied: ${fault.message}`, isError: true };
      throw fault;
    }
    const said: string[] = [];
    for (const { path, text } of changes) {
      const answer = await hands.use(
        text === undefined ? { kind: 'delete', path } : { kind: 'write', path, bytes: Buffer.from(text) },
      );
      said.push(`${path}: ${answer.text}`);
      if (answer.outcome !== 'done')
        return { text: `stopped, the files before it are changed:\n${said.join('\n')}`, isError: true };
    }
    return { text: said.join('\n'), isError: false };
  },
};

async function toChanges(
  section: EnvelopeSection,
  hands: Hands,
  before: readonly Change[],
): Promise<readonly Change[]> {
  const { kind, path } = section;
  if (kind === 'delete') return [{ path }];
  if (kind === 'add') return [{ path, text: `${section.lines.join('\n')}\n` }];
  const text = await textOf(path, hands, before);
  const changed = applyHunks(text, section.hunks);
  return section.moveTo === undefined
    ? [{ path, text: changed }]
    : [{ path: section.moveTo, text: changed }, { path }];
}

async function textOf(path: string, hands: Hands, before: readonly Change[]): Promise<string> {
  const earlier = before.findLast((change) => change.path === path);
  if (earlier?.text !== undefined) return earlier.text;
  const { outcome, text, bytes } = await hands.use({ kind: 'read', path });
  if (outcome !== 'done') throw new EnvelopeFault(`\`${path}\`: ${text}`);
  if (bytes === undefined) throw new EnvelopeFault(`\`${path}\` is too large to be patched`);
  if (!isUtf8(bytes)) throw new EnvelopeFault(`\`${path}\` is not UTF-8`);
  return Buffer.from(bytes).toString('utf8');
}

/** Every tool, in the order of its declaration to the model. */
const coderTools: readonly CoderTool[] = [
  readFile,
  listDir,
  grepFiles,
  ...codeTools,
  applyPatch,
  shell,
  ...commandTools,
  runWritVcs,
  webSearch,
  readPage,
  updatePlan,
  requestUserInput,
  recordDecision,
  submitTaskComplete,
];

/** Those that a model is offered for a Task. */
export function toolsFor({
  web,
  hands,
  code,
  person,
}: Pick<TaskOrder, 'web' | 'hands' | 'code' | 'person'>): readonly CoderTool[] {
  const isOpen = (wants: CoderTool['wants']): boolean =>
    wants === undefined ||
    (wants === 'history' ? hands.seesHistory === true : web?.actions.includes(wants) === true);
  const offered = coderTools.filter(
    ({ wants, wantsCode }) =>
      isOpen(wants) && (wantsCode === undefined || code?.actions.includes(wantsCode) === true),
  );
  const files = `For files ending with ${code?.endings.join(', ')}.`;
  return offered
    .map((tool) => toldOfPerson(tool, person === undefined ? {} : { person }))
    .map((tool) => (tool.wantsCode === undefined ? tool : { ...tool, says: `${tool.says} ${files}` }));
}
