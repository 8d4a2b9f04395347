/** Runs the read-only version control subcommands. */

import type { VcsQuestion } from '../../agent/version-control/parse-vcs.ts';
import { WritError } from '../../core/base/errors.ts';
import { askGit, gitFailed, runGit } from '../../workspace/git/git.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { resolveCommit } from '../../workspace/git/resolve-commit.ts';
import { asRange } from './parse-vcs-call.ts';

export interface VcsText {
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
