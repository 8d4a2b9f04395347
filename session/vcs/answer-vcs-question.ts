/* Parses the version control calls of MCP clients, and answers those that only read. */
import {
  parseVcs,
  placeOf,
  type VcsQuestion,
  type VcsReach,
  type VcsReading,
  vcsCommands,
} from '../../agent/version-control/parse-vcs.ts';
import { revealHidden } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import { askGit, gitFailed, runGit } from '../../workspace/git/git.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { isRefName } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { resolveCommit } from '../../workspace/git/resolve-commit.ts';

interface VcsText {
  readonly text: string;
  /** With `status --json`. */
  readonly state?: WorkState;
}

const maxGitBytes = 16 * 1024 * 1024;
const defaultCommits = 20;
const plain = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--submodule=short',
  '--ignore-submodules=dirty',
];
const sides = ['--src-prefix=a/', '--dst-prefix=b/', '--no-relative'];
const history = ['--no-notes', '--no-show-signature', '--no-mailmap', '--no-decorate'];
const fullForm = '--format=commit %H%nAuthor: %an <%ae>%nDate:   %aI%n%n%w(0,4,4)%B';
const anyForm = ['--stat', '--name-only', '--name-status'];

/**
 * Answers a query in the user's repository. Revisions are resolved first and git gets commit ids, so no word of the
 * caller is parsed as an option. REF_NOT_FOUND, GIT_FAILED, OUTPUT_TOO_LARGE.
 */
export async function answerVcsQuestion(
  repository: Repository,
  question: VcsQuestion,
  signal: AbortSignal,
): Promise<VcsText> {
  const { command, options, paths, context = 3 } = question;
  const ask = async (...args: readonly string[]): Promise<VcsText> => ({
    text: (await runGit(repository, args, { maxBytes: maxGitBytes, signal })).toString('utf8').trimEnd(),
  });
  const given = (...names: readonly string[]): readonly string[] => names.filter((name) => options.has(name));
  const where = ['--', ...paths];
  if (command === 'status') {
    if (options.has('--json')) return stateOf(repository, signal);
    const form = given('--porcelain', '--porcelain=v1', '--porcelain=v2', '--short', '-s', '--branch', '-b');
    const untracked = given('--untracked-files=no', '--untracked-files=normal', '--untracked-files=all');
    return ask('status', '--ignore-submodules=dirty', '--no-ahead-behind', ...form, ...untracked, ...where);
  }
  if (command === 'branch') return ask('branch', '--no-color', '--no-column', ...oneOf(given, branchForms));
  if (command === 'show-ref') return refsOf(repository, given('--head', '--heads', '--tags'), signal);
  if (command === 'ls-files') return ask('ls-files', ...options, ...where);
  if (question.file !== undefined) return fileOf(repository, question.revisions[0] ?? 'HEAD', question.file);
  const commits = await resolveAll(repository, question);
  if (command === 'diff') {
    const form = given(...anyForm).length === 0 ? ['-p', `-U${context}`] : given(...anyForm);
    const staged = given('--cached', '--staged').length === 0 ? [] : ['--cached'];
    return ask('diff', ...staged, ...form, ...plain, ...sides, '--end-of-options', ...commits, ...where);
  }
  const shape = options.has('--oneline') ? '--format=%h %s' : fullForm;
  if (command === 'log') {
    const most = `--max-count=${question.most ?? defaultCommits}`;
    return ask(
      'log',
      ...history,
      ...plain,
      shape,
      most,
      ...given(...anyForm),
      '--end-of-options',
      ...commits,
      ...where,
    );
  }
  const form = given(...anyForm).length === 0 ? ['-p', `-U${context}`] : given(...anyForm);
  return ask(
    'show',
    ...history,
    ...plain,
    ...sides,
    fullForm,
    ...form,
    '--end-of-options',
    ...commits,
    ...where,
  );
}

const branchForms = ['--show-current', '--all', '-a', '--remotes', '-r'];

/** git rejects two of these forms with its own error. Here the first one counts. */
function oneOf(
  given: (...names: readonly string[]) => readonly string[],
  forms: readonly string[],
): readonly string[] {
  const [form = '--list'] = given(...forms);
  return [form];
}

async function stateOf(repository: Repository, signal: AbortSignal): Promise<VcsText> {
  const state = await readWorkState(repository, signal);
  return { text: JSON.stringify(state), state };
}

/** If no ref matches, git prints nothing and reports it only by its exit code. */
async function refsOf(
  repository: Repository,
  options: readonly string[],
  signal: AbortSignal,
): Promise<VcsText> {
  const args = ['show-ref', ...options];
  const { code, stdout, stderr } = await askGit(repository, args, { maxBytes: maxGitBytes, signal });
  if (code > 1 || (code === 1 && stderr !== '')) throw gitFailed(args, code, stderr);
  return { text: stdout.toString('utf8').trimEnd() };
}

async function fileOf(repository: Repository, revision: string, file: string): Promise<VcsText> {
  const commit = await resolveCommit(repository, revision);
  const bytes = await readBlob(repository, commit, file, maxGitBytes);
  if (bytes === undefined) {
    const message = `\`${file}\` is no file of that commit`;
    throw new WritError('INPUT_UNREADABLE', { message, detail: { path: file, commit } });
  }
  return { text: bytes.includes(0) ? `[binary, ${bytes.length} bytes]` : bytes.toString('utf8') };
}

/** Ids for names; a range stays one, of ids. */
async function resolveAll(
  repository: Repository,
  { command, revisions }: VcsQuestion,
): Promise<readonly string[]> {
  // Without revisions, the history of HEAD is shown.
  const named = revisions.length === 0 && command !== 'diff' ? ['HEAD'] : revisions;
  return Promise.all(
    named.map(async (word) => {
      const range = asRange(word);
      if (range === undefined) return resolveCommit(repository, word);
      const [from, to] = await Promise.all(range.sides.map((side) => resolveCommit(repository, side)));
      return `${from}${range.dots}${to}`;
    }),
  );
}

/** The state of a working tree, as `status --json` reports it. */
interface WorkState {
  /** `null`: no commit yet. */
  readonly head: string | null;
  /** `null`: HEAD is detached. */
  readonly branch: string | null;
  readonly changes: readonly WorkChange[];
}

interface WorkChange {
  readonly path: string;
  /** Of a rename: where it was. */
  readonly from?: string;
  /** What the index has beside the commit. */
  readonly staged?: Change;
  /** What the file has beside the index. */
  readonly unstaged?: Change;
  readonly state?: 'untracked' | 'unmerged';
}

type Change = 'added' | 'changed' | 'deleted' | 'renamed' | 'copied' | 'type-changed';

const letters: Readonly<Record<string, Change>> = {
  A: 'added',
  M: 'changed',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
};
const maxBytes = 64 * 1024 * 1024;

/** Every path that differs from HEAD, ignored ones apart; submodules are not looked into. */
async function readWorkState(repository: Repository, signal: AbortSignal): Promise<WorkState> {
  const args = ['--porcelain=v2', '-z', '--branch', '--untracked-files=all', '--ignore-submodules=dirty'];
  const told = await runGit(repository, ['status', '--no-ahead-behind', ...args], { maxBytes, signal });
  const records = told.toString('utf8').split('\0');
  const changes: WorkChange[] = [];
  let [head, branch]: [string | null, string | null] = [null, null];
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? '';
    const fields = record.split(' ');
    const rest = (from: number): string => fields.slice(from).join(' ');
    if (record.startsWith('# branch.oid ')) head = fields[2] === '(initial)' ? null : rest(2);
    else if (record.startsWith('# branch.head ')) branch = fields[2] === '(detached)' ? null : rest(2);
    else if (fields[0] === '?') changes.push({ path: rest(1), state: 'untracked' });
    else if (fields[0] === 'u') changes.push({ path: rest(10), state: 'unmerged' });
    else if (fields[0] === '1') changes.push({ path: rest(8), ...changesOf(fields[1]) });
    else if (fields[0] === '2') {
      at += 1;
      changes.push({ path: rest(9), from: records[at] ?? '', ...changesOf(fields[1]) });
    }
  }
  return { head, branch, changes };
}

function changesOf([x = '.', y = '.']: string = ''): Pick<WorkChange, 'staged' | 'unstaged'> {
  const [staged, unstaged] = [letters[x], letters[y]];
  return { ...(staged && { staged }), ...(unstaged && { unstaged }) };
}

const steps = /(?:~\d{0,4}|\^[12]?){0,8}$/;
const withRanges: ReadonlySet<VcsReading> = new Set(['log', 'diff']);

/**
 * A commit by name: `HEAD`, an id, a branch, a tag, and steps back from it. No search, no date and no reflog
 * (`@{…}`, `:/…`, `^{…}`): their words would be git's to read.
 */
function isNamedRevision(word: string): boolean {
  const name = word.replace(steps, '');
  return !name.startsWith('-') && isRefName(`refs/heads/${name}`);
}

/** `A..B` and `A...B`, where both are named. */
function asRange(
  word: string,
): { readonly sides: readonly [string, string]; readonly dots: string } | undefined {
  const [, from = '', dots = '', to = ''] = /^([^.].*?)(\.{2,3})([^.].*)$/.exec(word) ?? [];
  return isNamedRevision(from) && isNamedRevision(to) ? { sides: [from, to], dots } : undefined;
}

/** What is open in a person's own repository: its branches and tags by name, ranges, what is staged. */
const repositoryReach: VcsReach = {
  isRevision: (word, command) =>
    isNamedRevision(word) || (withRanges.has(command) && asRange(word) !== undefined),
  options: {
    status: ['--branch', '-b', '--porcelain=v1', '--untracked-files=no', '--untracked-files=normal'],
    diff: ['--cached', '--staged'],
    branch: ['--all', '-a', '--remotes', '-r'],
    log: ['--stat', '--name-only', '--name-status'],
    'show-ref': ['--heads', '--tags'],
    'ls-files': ['--stage', '-s'],
  },
};

/** A change of the repository. No member can be read by git as an option. */
export type VcsChange =
  /** `what`: files that are tracked alone, or new ones too. */
  | { readonly command: 'add'; readonly paths: readonly string[]; readonly what: 'tracked' | 'all' }
  | { readonly command: 'commit'; readonly message: string; readonly mayBeEmpty: boolean }
  | { readonly command: 'switch'; readonly to: string; readonly how: 'branch' | 'detached' }
  | { readonly command: 'switch'; readonly to: string; readonly how: 'new'; readonly start: string }
  | { readonly command: 'branch'; readonly branch: string; readonly how: 'create'; readonly start: string }
  | { readonly command: 'branch'; readonly branch: string; readonly how: 'delete' | 'delete-unmerged' };

/** One call, as far as its words go: a question, or a change. */
export type VcsCall =
  | { readonly question: VcsQuestion; readonly change?: never }
  | { readonly change: VcsChange; readonly question?: never };

const maxArguments = 64;
const maxLength = 1024;
const maxMessage = 16 * 1024;
const deleting: Readonly<Record<string, 'delete' | 'delete-unmerged'>> = {
  '-d': 'delete',
  '--delete': 'delete',
  '-D': 'delete-unmerged',
};

/**
 * Parses a call of the ten subcommands; a string is the error. Every word is allow-listed: none can name a file to
 * write, a program, a setting or another repository.
 */
export function parseVcsCall(command: string, args: readonly string[]): VcsCall | string {
  if (!vcsCommands.includes(command))
    return `expected one of ${vcsCommands.join(', ')}, found ${quoted(command)}`;
  if (args.length > maxArguments) return `expected at most ${maxArguments} arguments`;
  const change = readChange(command, args);
  if (typeof change === 'string') return change;
  if (change !== undefined) return { change };
  const question = parseVcs(command, args, repositoryReach);
  return typeof question === 'string' ? question : { question };
}

function readChange(command: string, args: readonly string[]): VcsChange | string | undefined {
  if (command === 'commit') return readCommit(args);
  const long = args.find((one) => one.length > maxLength || /\p{Cc}/u.test(one));
  if (long !== undefined) return `${quoted(long)} is longer than ${maxLength}, or holds a control character`;
  if (command === 'add') return readAdd(args);
  if (command === 'switch') return readSwitch(args);
  return command === 'branch' ? readBranch(args) : undefined;
}

function readAdd(args: readonly string[]): VcsChange | string {
  const end = args.indexOf('--');
  const options = (end === -1 ? args : args.slice(0, end)).filter((one) => one.startsWith('-'));
  const words = args.filter((one, at) => at !== end && !(options.includes(one) && (end === -1 || at < end)));
  const unknown = options.find((one) => !['-A', '--all', '-u', '--update'].includes(one));
  if (unknown !== undefined)
    return `\`add\` takes no ${quoted(unknown)}; it takes -A, --all, -u, --update and paths`;
  const paths = words.map(placeOf);
  const at = paths.indexOf(undefined);
  if (at !== -1) return notPath(words[at] ?? '');
  if (paths.length === 0 && options.length === 0) return 'expected paths, `.`, `-A` or `-u`';
  const isUpdate = options.some((one) => one === '-u' || one === '--update');
  return {
    command: 'add',
    paths: paths.length === 0 ? ['.'] : paths.filter((path) => path !== undefined),
    what: isUpdate ? 'tracked' : 'all',
  };
}

function readCommit(args: readonly string[]): VcsChange | string {
  const parts: string[] = [];
  let mayBeEmpty = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const [, joined] = /^--message=(.*)$/s.exec(word) ?? [];
    if (joined !== undefined) parts.push(joined);
    else if (word === '-m' || word === '--message') {
      at += 1;
      const next = args[at];
      if (next === undefined) return `expected the message after \`${word}\``;
      parts.push(next);
    } else if (word === '--allow-empty') mayBeEmpty = true;
    else
      return `\`commit\` takes no ${quoted(word)}; it takes -m MESSAGE and --allow-empty, of what \`add\` has staged`;
  }
  const message = parts.join('\n\n').trim();
  if (message === '') return 'expected `-m MESSAGE`, and a message that is not empty';
  if (message.length > maxMessage) return `expected a message of at most ${maxMessage} characters`;
  if (/[^\P{Cc}\n\t]/u.test(message)) return 'the message holds a control character';
  if (/[\u202a-\u202e\u2066-\u2069]/.test(message)) return 'the message holds what turns text around';
  return { command: 'commit', message, mayBeEmpty };
}

function readSwitch(args: readonly string[]): VcsChange | string {
  const [first = '', second = '', third = 'HEAD', ...more] = args;
  if (first === '-c' || first === '--create') {
    if (more.length > 0 || args.length < 2) return 'expected `switch -c BRANCH [START]`';
    return (
      branchFault(second) ?? startFault(third) ?? { command: 'switch', to: second, how: 'new', start: third }
    );
  }
  if (first === '--detach' || first === '-d') {
    if (args.length !== 2) return 'expected `switch --detach COMMIT`';
    return startFault(second) ?? { command: 'switch', to: second, how: 'detached' };
  }
  if (args.length !== 1 || first.startsWith('-'))
    return `expected \`switch BRANCH\`, \`switch -c BRANCH [START]\` or \`switch --detach COMMIT\`, found ${quoted(args.join(' '))}`;
  return branchFault(first) ?? { command: 'switch', to: first, how: 'branch' };
}

/** `undefined` where it is a question. */
function readBranch(args: readonly string[]): VcsChange | string | undefined {
  const [first = '', second = 'HEAD', ...more] = args;
  const how = Object.hasOwn(deleting, first) ? deleting[first] : undefined;
  if (how !== undefined) {
    if (args.length !== 2) return `expected \`branch ${first} BRANCH\``;
    return branchFault(second) ?? { command: 'branch', branch: second, how };
  }
  if (first === '' || first.startsWith('-')) return undefined;
  if (more.length > 0) return 'expected `branch BRANCH [START]`';
  return (
    branchFault(first) ??
    startFault(second) ?? { command: 'branch', branch: first, how: 'create', start: second }
  );
}

function branchFault(name: string): string | undefined {
  const isBranch =
    !name.startsWith('-') && !/^(?:HEAD|@)$|^refs\//.test(name) && isRefName(`refs/heads/${name}`);
  // Branch names with invisible characters are rejected, because two of them could look the same.
  const isSeen = revealHidden(name, () => '') === name;
  return isBranch && isSeen ? undefined : `expected the name of a branch, found ${quoted(name)}`;
}

function startFault(word: string): string | undefined {
  return isNamedRevision(word) ? undefined : `expected a commit, a branch or a tag, found ${quoted(word)}`;
}

function notPath(word: string): string {
  return `${quoted(word)} is no path in the repository: expected one relative to its root, without \`..\`, patterns or magic`;
}
