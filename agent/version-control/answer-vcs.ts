/* Answers a model's queries to version control. */
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import type { HandAnswer } from '../../core/interfaces/worker.ts';
import { askGit, type GitDirectory, runGit } from '../../workspace/git/git.ts';
import { type ChangedEntry, changedEntries } from '../../workspace/git/held-index.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Base } from '../../workspace/git/resolve-commit.ts';
import { type SealedObjects, sealObjects } from '../../workspace/git/scratch.ts';
import { listTree } from '../../workspace/git/tree.ts';
import type { TreeOfWorkspace } from '../../workspace/git/workspace.ts';
import type { AgentRun } from '../agent-run.ts';
import type { VcsQuestion } from './parse-vcs.ts';

const maxText = 64 * 1024;
const maxGitBytes = 16 * 1024 * 1024;
/** Maximum number of files with lines in one answer. */
const maxFiles = 200;
const defaultCommits = 20;
const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--submodule=short'] as const;

/** Access and cancellation of a query. */
interface VcsAsking {
  readonly shows: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/** Answers an authorized query: bounded, without terminal control characters, and only for visible paths. */
export async function answerVcs(
  seen: SeenHistory,
  question: VcsQuestion,
  asking: VcsAsking,
): Promise<HandAnswer> {
  const isShown = (path: string): boolean =>
    asking.shows(path) &&
    (question.paths.length === 0 ||
      question.paths.some((one) => one === '.' || path === one || path.startsWith(`${one}/`)));
  try {
    const answer = await ask(seen, question, { ...asking, shows: isShown });
    if (typeof answer !== 'string') return answer;
    const text = answer.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
    const cut = text.length > maxText ? `\n[cut: ${text.length} characters in all; name a path]` : '';
    return { outcome: 'done', text: text.slice(0, maxText) + cut };
  } catch (fault) {
    asking.signal.throwIfAborted();
    if (!isWritError(fault)) throw fault;
    return failed(`${fault.code}; ask for less, or name a path`);
  }
}

async function ask(
  seen: SeenHistory,
  question: VcsQuestion,
  asking: VcsAsking,
): Promise<string | HandAnswer> {
  const { command, revisions, options } = question;
  const sealed = await seen.sealed();
  const head = seen.base.commit;
  if (command === 'branch') return options.has('--show-current') ? '' : `* (HEAD at ${head ?? 'no commit'})`;
  if (command === 'show-ref') return head === undefined ? '' : `${head} HEAD`;
  if (command === 'status') return statusOf(seen, options, asking);
  if (command === 'ls-files') return filesOf(seen, options, asking);
  const commits: string[] = [];
  for (const revision of revisions) {
    const commit = sealed && (await commitOf(seen, sealed, revision));
    if (commit === undefined) return failed(`\`${revision}\` is no commit of the history that is open here`);
    commits.push(commit);
  }
  if (command === 'diff') return differ(seen, commits, question, asking);
  const [commit = head] = commits;
  if (sealed === undefined || commit === undefined) return failed('there is no commit yet');
  return command === 'log'
    ? logOf(sealed, commit, question, asking)
    : showOf(seen, sealed, commit, question, asking);
}

async function statusOf(
  seen: SeenHistory,
  options: ReadonlySet<string>,
  { shows }: VcsAsking,
): Promise<string> {
  const changes = await changesShown(seen, [seen.base.tree, await seen.now()], shows);
  if (options.has('--json')) {
    const told = changes.map(({ path, before, after }) => ({ path, was: word(before, after) }));
    return JSON.stringify({ head: seen.base.commit ?? null, changes: told });
  }
  const none = '000000';
  if (!options.has('--porcelain=v2'))
    return changes
      .map((one) => `${one.before ? ` ${letter(one)}` : '??'} ${JSON.stringify(one.path)}`)
      .join('\n');
  const zero = '0'.repeat(40);
  const lines = changes.map(({ path, before, after }) =>
    before === undefined
      ? `? ${path}`
      : `1 .${after ? 'M' : 'D'} N... ${before.mode} ${before.mode} ${after?.mode ?? none} ${before.object} ${before.object || zero} ${path}`,
  );
  return [`# branch.oid ${seen.base.commit ?? '(initial)'}`, '# branch.head (detached)', ...lines].join('\n');
}

async function filesOf(
  seen: SeenHistory,
  options: ReadonlySet<string>,
  { shows }: VcsAsking,
): Promise<string> {
  const has = (...names: readonly string[]): boolean => names.some((name) => options.has(name));
  const changes = await changesShown(seen, [seen.base.tree, await seen.now()], shows);
  const of = (wanted: string): readonly string[] =>
    changes.filter((one) => word(one.before, one.after) === wanted).map(({ path }) => path);
  const picked = [
    ...(has('--others', '-o') ? of('added') : []),
    ...(has('--modified', '-m') ? [...of('changed'), ...of('deleted')] : []),
    ...(has('--deleted', '-d') ? of('deleted') : []),
  ];
  const isCached = has('--cached', '-c') || !has('--others', '-o', '--modified', '-m', '--deleted', '-d');
  const cached = isCached ? await pathsShown(seen, seen.base.tree, shows) : [];
  return [...new Set([...cached, ...picked])].join('\n');
}

async function differ(
  seen: SeenHistory,
  [from, to]: readonly string[],
  question: VcsQuestion,
  asking: VcsAsking,
): Promise<string | HandAnswer> {
  const sides = [from === undefined ? seen.base.tree : `${from}^{tree}`, to ?? (await seen.now())] as const;
  return shownDifference(seen, sides, question, asking);
}

async function shownDifference(
  seen: SeenHistory,
  sides: readonly [string, string],
  { options, context = 3 }: VcsQuestion,
  { shows, signal }: VcsAsking,
): Promise<string | HandAnswer> {
  const changes = await changesShown(seen, sides, shows);
  if (options.has('--name-only')) return changes.map(({ path }) => path).join('\n');
  if (options.has('--name-status')) return changes.map((one) => `${letter(one)}\t${one.path}`).join('\n');
  if (changes.length === 0) return '';
  if (changes.length > maxFiles)
    return failed(
      `${changes.length} files differ, at most ${maxFiles} are shown: name a path, or ask for --name-status`,
    );
  const form = options.has('--stat') ? ['--stat=120', '--stat-name-width=90'] : ['-p', `-U${context}`];
  const args = ['diff-tree', '-r', ...form, ...plain, '--end-of-options', ...sides, '--'];
  const paths = changes.map(({ path }) => path);
  return (await runGit(seen.objects, [...args, ...paths], { maxBytes: maxGitBytes, signal })).toString(
    'utf8',
  );
}

const fullForm = '--format=commit %H%nAuthor: %an <%ae>%nDate:   %aI%n%n%w(0,4,4)%B';

async function logOf(
  sealed: SealedObjects,
  commit: string,
  { paths, options, most = defaultCommits }: VcsQuestion,
  { signal }: Pick<VcsAsking, 'signal'>,
): Promise<string> {
  const args = ['log', ...plain, '--no-notes', '--no-decorate', '--no-show-signature', '--no-mailmap'];
  const form = options.has('--oneline') ? '--format=%h %s' : fullForm;
  const where = paths.filter((path) => path !== '.');
  const all = [...args, form, `--max-count=${most}`, '--end-of-options', commit, '--', ...where];
  const text = (await runGit(sealed, all, { maxBytes: maxGitBytes, signal })).toString('utf8');
  return `${text.trimEnd()}\n[history is open as deep as \`[workspace] history\` of the policy commit says]`;
}

async function showOf(
  seen: SeenHistory,
  sealed: SealedObjects,
  commit: string,
  question: VcsQuestion,
  asking: VcsAsking,
): Promise<string | HandAnswer> {
  const { file } = question;
  if (file !== undefined) {
    const bytes = asking.shows(file) ? await readBlob(sealed, commit, file, maxGitBytes) : undefined;
    if (bytes === undefined) return failed('there is no such file in that commit');
    return bytes.includes(0) ? failed(`binary, ${bytes.length} bytes`) : bytes.toString('utf8');
  }
  const header = (
    await runGit(
      sealed,
      [
        'log',
        ...plain,
        '--no-notes',
        '--no-decorate',
        fullForm,
        '--max-count=1',
        '--end-of-options',
        commit,
        '--',
      ],
      {
        maxBytes: maxGitBytes,
        signal: asking.signal,
      },
    )
  ).toString('utf8');
  const parent = sealed.shallow.includes(commit) ? undefined : await commitOf(seen, sealed, `${commit}^1`);
  if (parent === undefined)
    return `${header.trimEnd()}\n[what it changed is beyond the history that is open here]`;
  const difference = await shownDifference(seen, [parent, commit], question, asking);
  return typeof difference === 'string' ? `${header.trimEnd()}\n\n${difference}` : difference;
}

function word(before: ChangedEntry['before'], after: ChangedEntry['after']): 'added' | 'deleted' | 'changed' {
  return before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed';
}

function letter({ before, after }: ChangedEntry): string {
  return { added: 'A', deleted: 'D', changed: 'M' }[word(before, after)];
}

function failed(why: string): HandAnswer {
  return { outcome: 'failed', text: `failed: ${why}` };
}

/**
 * Version control as visible in an attempt. Commits come from a store that holds only what is reachable from the
 * base, as deep as checks see it. It contains no ref, no configuration and no other object of the user. The workspace
 * is read as it would be committed, never through its `.git`.
 */
export interface SeenHistory {
  readonly base: Base;
  /** Object database of everything below. */
  readonly objects: GitDirectory;
  /** The store of commits; `undefined` where there is none yet. */
  readonly sealed: () => Promise<SealedObjects | undefined>;
  /** Tree of the workspace now. */
  readonly now: () => Promise<string>;
}

export function openHistory(
  { services: { scratch }, environment: { config } }: Pick<AgentRun, 'services' | 'environment'>,
  base: Base,
  { place, kept }: { readonly place: string; readonly kept: TreeOfWorkspace },
): SeenHistory {
  let made: Promise<SealedObjects | undefined> | undefined;
  const seal = async (): Promise<SealedObjects | undefined> =>
    base.commit === undefined
      ? undefined
      : sealObjects(scratch, join(place, 'history'), {
          commit: base.commit,
          history: config.workspace.history,
          trees: [],
        });
  return { base, objects: scratch, sealed: () => (made ??= seal()), now: () => kept.take() };
}

/** A commit that the sealed store holds; `undefined` for whatever is none. */
async function commitOf(
  { base }: Pick<SeenHistory, 'base'>,
  sealed: SealedObjects,
  revision: string,
): Promise<string | undefined> {
  const named = revision.replace(/^HEAD/, base.commit ?? '');
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${named}^{commit}`];
  const { code, stdout } = await askGit(sealed, args);
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

/** Entries of a tree, or the differences between two, that may be shown and are at or below the requested paths. */
async function changesShown(
  { objects }: Pick<SeenHistory, 'objects'>,
  [before, after]: readonly [string, string],
  isShown: (path: string) => boolean,
): Promise<readonly ChangedEntry[]> {
  return (await changedEntries(objects, before, after)).filter(({ path }) => isShown(path));
}

async function pathsShown(
  { objects }: Pick<SeenHistory, 'objects'>,
  tree: string,
  isShown: (path: string) => boolean,
): Promise<readonly string[]> {
  return (await listTree(objects, tree)).map(({ path }) => path).filter(isShown);
}
