/* Parses and authorizes a model's queries to version control. */
import { normalisePattern } from '../../core/base/glob.ts';
import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { HandUse } from '../../core/interfaces/worker.ts';
import { guardTool, shownPaths } from '../../workspace/command-acl/acl.ts';
import { realPathIn } from '../../workspace/command-acl/command-paths.ts';
import { refusal } from '../../workspace/command-acl/constraints.ts';
import type { AgentRun } from '../agent-run.ts';
import type { AuthorizedTool, ToolPlace } from '../tool-calls/tool-entry.ts';

/** A question to version control, of options that are known one by one. */
export interface VcsQuestion {
  readonly command: VcsReading;
  /** `HEAD`, or the beginning of a commit's id, and steps back from it. */
  readonly revisions: readonly string[];
  /** Of `show`: a file as a commit has it. */
  readonly file?: string;
  /** Relative to the repository, as they are written: no patterns. Empty: everything. */
  readonly paths: readonly string[];
  readonly options: ReadonlySet<string>;
  /** Of `-n`: commits. */
  readonly most?: number;
  /** Of `-U`: lines around a change. */
  readonly context?: number;
}

/** The revisions and options that a caller may use. */
export interface VcsReach {
  /** Whether a word names a commit. */
  readonly isRevision: (word: string, command: VcsReading) => boolean;
  /** Allowed in addition to the common options. */
  readonly options: Partial<Readonly<Record<VcsReading, readonly string[]>>>;
}

const reading = ['status', 'diff', 'branch', 'log', 'show', 'show-ref', 'ls-files'] as const;
const writing = ['add', 'commit', 'switch'] as const;
export type VcsReading = (typeof reading)[number];

export const vcsCommands: readonly string[] = [...reading, ...writing];

/** Whether a command would change what version control holds. */
function isWritingVcs(command: string): boolean {
  return writing.some((one) => one === command);
}

/** Complete allow list of options: none of them can name a program, a file or a setting. */
const known: Readonly<Record<VcsReading, readonly string[]>> = {
  status: ['--json', '--porcelain', '--porcelain=v2', '--untracked-files=all', '--short', '-s'],
  diff: ['--stat', '--name-only', '--name-status'],
  branch: ['--show-current', '--list'],
  log: ['--oneline'],
  show: ['--stat', '--name-only', '--name-status'],
  'show-ref': ['--head'],
  'ls-files': [
    '--cached',
    '--others',
    '--modified',
    '--deleted',
    '--exclude-standard',
    '-c',
    '-o',
    '-m',
    '-d',
  ],
};
/** Commands in which a bare word is a path. Elsewhere paths follow `--`, so that a ref name cannot pass for one. */
const namesPaths: ReadonlySet<VcsReading> = new Set(['status', 'ls-files']);
const mostRevisions: Readonly<Record<VcsReading, number>> = {
  status: 0,
  diff: 2,
  branch: 0,
  log: 1,
  show: 1,
  'show-ref': 0,
  'ls-files': 0,
};
const revision = /^(?:HEAD|[0-9a-f]{4,64})(?:~\d{0,4}|\^[12]?){0,8}$/;
/** A history that has no names: `HEAD` and ids. */
const sealedReach: VcsReach = { isRevision: (word) => revision.test(word), options: {} };
const maxArguments = 64;
const maxLength = 1024;
const maxMost = 1000;
const maxContext = 100;

/** Parses a model's query; returns an error text if it is invalid. */
export function parseVcs(
  command: string,
  args: readonly string[],
  reach: VcsReach = sealedReach,
): VcsQuestion | string {
  const name = reading.find((one) => one === command);
  if (name === undefined) return `expected one of ${vcsCommands.join(', ')}, found ${quoted(command)}`;
  if (args.length > maxArguments || args.some((one) => one.length > maxLength))
    return `expected at most ${maxArguments} arguments of ${maxLength} characters`;
  const control = args.find((one) => /\p{Cc}/u.test(one));
  if (control !== undefined) return `${quoted(control)} holds a control character`;
  const words = joinPairs(name, args);
  const taken = [...known[name], ...(reach.options[name] ?? [])];
  const isRevision = (word: string): boolean => reach.isRevision(word, name);
  const options = new Set<string>();
  const [revisions, paths]: [string[], string[]] = [[], []];
  let numbers: Pick<VcsQuestion, 'most' | 'context'> = {};
  let file: string | undefined;
  let onlyPaths = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!onlyPaths && word === '--') onlyPaths = true;
    else if (!onlyPaths && word.startsWith('-') && taken.includes(word)) options.add(word);
    else if (!onlyPaths && word.startsWith('-')) {
      const number = numberOf(name, word, taken);
      if (typeof number === 'string') return number;
      numbers = { ...numbers, ...number };
    } else if (!onlyPaths && name === 'show' && word.includes(':')) {
      const [commit = '', path = ''] = [word.slice(0, word.indexOf(':')), word.slice(word.indexOf(':') + 1)];
      const place = placeOf(path);
      if (!isRevision(commit) || place === undefined || place === '.') return notKnown(word);
      revisions.push(commit);
      file = place;
    } else if (!onlyPaths && isRevision(word) && revisions.length < mostRevisions[name]) revisions.push(word);
    else if (!onlyPaths && !namesPaths.has(name)) return notKnown(word);
    else {
      const place = placeOf(word);
      if (place === undefined) return notKnown(word);
      paths.push(place);
    }
  }
  if (paths.length > 0 && (name === 'branch' || name === 'show-ref')) return `\`${name}\` takes no path`;
  if (revisions.length > mostRevisions[name] || (file !== undefined && paths.length > 0))
    return `expected at most ${mostRevisions[name]} commits, and no path beside \`COMMIT:PATH\``;
  return { command: name, revisions, paths, options, ...numbers, ...(file === undefined ? {} : { file }) };
}

/** Joins an option with a value that is a separate word. */
function joinPairs(name: VcsReading, args: readonly string[]): readonly string[] {
  const option = { status: '--porcelain', log: '-n' }[name as string];
  const at = option === undefined ? -1 : args.indexOf(option);
  const value = args[at + 1];
  if (option === undefined || at === -1 || value === undefined) return args;
  if (name === 'status') return value === 'v2' ? args.toSpliced(at, 2, '--porcelain=v2') : args;
  return args.toSpliced(at, 2, option + value);
}

function numberOf(
  name: VcsReading,
  word: string,
  taken: readonly string[],
): Pick<VcsQuestion, 'most' | 'context'> | string {
  const most = /^(?:-n|-|--max-count=)(\d{1,4})$/.exec(word)?.[1];
  if (name === 'log' && most !== undefined) return { most: Math.min(Math.max(1, Number(most)), maxMost) };
  const context = /^(?:-U|--unified=)(\d{1,4})$/.exec(word)?.[1];
  if ((name === 'diff' || name === 'show') && context !== undefined)
    return { context: Math.min(Number(context), maxContext) };
  const counted = name === 'log' ? ['-n N'] : name === 'diff' || name === 'show' ? ['-UN'] : [];
  const limit = counted.length > 0 ? ', with N of one to four digits' : '';
  return `\`${name}\` takes no ${quoted(word)}; it takes ${[...taken, ...counted].join(', ')}${limit}`;
}

/** A path in the repository, plainly written; what has pattern magic or leads elsewhere is none. */
export function placeOf(word: string): string | undefined {
  if (/^[.]\/?$/.test(word)) return '.';
  if (word.startsWith(':')) return undefined;
  const path = normalisePattern(word)?.replace(/\/$/, '');
  return path?.split('/').some((part) => part.toLowerCase() === '.git') ? undefined : path;
}

function notKnown(word: string): string {
  return `${quoted(word)} is neither a commit of this history (\`HEAD\`, \`HEAD~1\`, an id) nor a path in the repository; paths follow \`--\``;
}

const tool = 'vcs';

/** A version control query with the verdict of the rules. */
interface JudgedVcs extends AuthorizedTool {
  readonly real: string;
  readonly question?: VcsQuestion;
  readonly shows?: (path: string) => boolean;
}

/**
 * Applies the rules first, then the allow list of words, then checks each path. Commands that change the repository
 * need a person, and a run has none.
 */
export function authorizeVcs(
  run: Pick<AgentRun, 'identity'>,
  { workspace }: Pick<ToolPlace, 'workspace'>,
  { command, args, ...kind }: Extract<HandUse, { readonly kind: 'vcs' }>,
): JudgedVcs {
  const { runId, contract } = run.identity;
  const { toolAcl } = contract.effective.security;
  const action = isWritingVcs(command) ? 'write' : 'read';
  const question = parseVcs(command, args);
  const named =
    typeof question === 'string' ? [] : [...question.paths, ...(question.file ? [question.file] : [])];
  const paths = named.length === 0 ? ['.'] : named;
  const words = [command, ...args];
  const asked = { tool, action, paths };
  const { refusal: why, maxResultBytes } = guardTool(toolAcl, { ...asked, workspace, text: words });
  const shows = shownPaths(toolAcl, tool, action);
  const hidden = paths.find((path) => !shows(path) || !shows(realPathIn(workspace, path) ?? path));
  const refused =
    why ??
    (action === 'write' ? needsPerson(command) : undefined) ??
    (typeof question === 'string' ? refusal(question, { reason: 'arguments' }) : undefined) ??
    (hidden === undefined
      ? undefined
      : refusal(`${quoted(hidden)} may not be read by the rules of the contract`, {
          reason: 'place',
          path: hidden,
        }));
  return {
    request: { runId, ...asked, command: words.map(quoted).join(' ') },
    given: { ...kind, command, args: JSON.stringify(args) },
    real: '.',
    shows,
    ...(typeof question === 'string' ? {} : { question }),
    ...(refused === undefined ? {} : { refusal: refused }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
  };
}

function needsPerson(command: string): Finding {
  return refusal(
    `APPROVAL_REQUIRED: ${quoted(command)} changes what version control holds, which a person allows in a session; in a run the files are the change, and only writ commits it`,
    { reason: 'approval-required', command },
  );
}
