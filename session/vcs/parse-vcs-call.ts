/** Parses calls of the version control subcommands. */

import {
  parseVcs,
  placeOf,
  type VcsQuestion,
  type VcsReach,
  type VcsReading,
  vcsCommands,
} from '../../agent/version-control/parse-vcs.ts';
import { revealHidden } from '../../api/envelope.ts';
import { quoted } from '../../core/base/printable.ts';
import { isRefName } from '../../workspace/git/ref-name.ts';

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
export function asRange(
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
