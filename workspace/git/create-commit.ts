/* Writes commits, makes the message of a sealed commit, and merges trees without a working tree. */
import { WritError } from '../../core/base/errors.ts';
import { coAuthorsIn, type Identity } from './commit-log.ts';
import { askGit, type GitDirectory, gitFailed } from './git.ts';
import { isObjectId } from './repository.ts';
import type { Scratch } from './scratch.ts';
import { type ObjectPlace, writeLooseObject } from './write-tree.ts';

/** Everything that a commit object consists of: the same request gives the same id. */
export interface CommitRequest {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Identity;
  readonly committer: Identity;
  /** Epoch milliseconds; git keeps whole seconds. */
  readonly authoredAtMs: number;
  /** `+0530`; absent: UTC, as for the committer. */
  readonly authorZone?: string;
  readonly committedAtMs: number;
}

interface SealedMessage {
  readonly changeType: string;
  readonly summary: string;
  /** Replaces both; untrusted text. */
  readonly message?: string;
  /** Named in `Co-authored-by` trailers. */
  readonly coAuthors?: readonly Identity[];
  readonly intentId: string;
  readonly runId: string;
  readonly intentSpecDigest: string;
}

const prefixes: Readonly<Record<string, string | undefined>> = {
  bugfix: 'fix: ',
  feature: 'feat: ',
  refactor: 'refactor: ',
  performance: 'perf: ',
  security: 'fix: ',
  docs: 'docs: ',
  chore: 'chore: ',
};

/**
 * Writes a commit object as `git commit-tree` would, without a process; moves no ref. Returns its id. With `durable`
 * it survives a power cut. INTERNAL for an identity that git would refuse.
 */
export async function createCommit(
  place: ObjectPlace,
  request: CommitRequest,
  durable = true,
): Promise<string> {
  const lines = [
    `tree ${request.tree}`,
    ...[...new Set(request.parents)].map((parent) => `parent ${parent}`),
    `author ${identityLine(request.author, request.authoredAtMs, request.authorZone)}`,
    `committer ${identityLine(request.committer, request.committedAtMs)}`,
    '',
    request.message,
  ];
  return writeLooseObject(place, { type: 'commit', bytes: Buffer.from(lines.join('\n')) }, durable);
}

/** Date of a commit as git writes and reads it. */
export function rawDate(atMs: number, zone = ''): string {
  return `${Math.floor(atMs / 1000)} ${/^[+-]\d{4}$/.test(zone) ? zone : '+0000'}`;
}

function identityLine({ name, email }: Identity, atMs: number, zone?: string): string {
  const who = withoutCrud(oneLine(name));
  if (who === '') throw new WritError('INTERNAL', { message: `\`${name}\` is no name to commit with` });
  return `${who} <${withoutCrud(oneLine(email))}> ${rawDate(atMs, zone)}`;
}

function withoutCrud(text: string): string {
  const isCrud = (char: string | undefined): boolean => char !== undefined && /[\0- .,:;<>"\\']/.test(char);
  let from = 0;
  let to = text.length;
  while (from < to && isCrud(text[from])) from += 1;
  while (from < to && isCrud(text[to - 1])) to -= 1;
  return text.slice(from, to).replace(/[<>]/g, '');
}

/**
 * The message of a sealed commit: prefix by change type and summary, or the given message; then one block of trailers
 * that ends with the three that `writ verify` reads.
 */
export function commitMessage(message: SealedMessage): string {
  const summary = oneLine(message.summary);
  // A summary may name the type itself.
  const isPrefixed = /^[a-z]+(?:\([^()]*\))?!?: /.test(summary);
  const subject = `${isPrefixed ? '' : (prefixes[message.changeType] ?? '')}${summary}`;
  const kept = keepMessage(message.message ?? '');
  const named = new Set(coAuthorsIn(kept.trailers.join('\n')).map(({ email }) => email.toLowerCase()));
  const trailers = [
    ...kept.trailers,
    ...(message.coAuthors ?? [])
      .filter(({ email }) => !named.has(email.toLowerCase()))
      .map(({ name, email }) => `Co-authored-by: ${oneLine(name)} <${oneLine(email)}>`),
    `Intent-Id: ${oneLine(message.intentId)}`,
    `Run-Id: ${oneLine(message.runId)}`,
    `Intentspec-Digest: ${oneLine(message.intentSpecDigest)}`,
  ];
  return `${[kept.text === '' ? subject : kept.text, '', ...new Set(trailers)].join('\n')}\n`;
}

/** A line break in an id or a name would forge a header or a trailer. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

interface KeptMessage {
  /** Subject and body; '' if nothing is left. */
  readonly text: string;
  /** Lines of its trailer block, without reserved ones. */
  readonly trailers: readonly string[];
}

const maxChars = 16_384;
/** The trailers that `writ verify` reads. */
const reserved = /^[\s>]*(?:intent-id|run-id|intentspec-digest)\s*[:=]/i;
const trailer = /^[A-Za-z][A-Za-z0-9-]{0,63}: \S/;
/** What git itself adds: with one of these a paragraph counts as trailers although other lines are in it. */
const ofGit = /^(?:Signed-off-by: |\(cherry picked from commit [0-9a-f]+\)$)/;
/** Direction overrides show a reader other words than a program reads. */
const unseen = /[\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Cleans a commit message: lines without control characters, at most 16,384 characters (a cut is marked). A line that
 * looks like a reserved trailer is quoted in the text and dropped from the trailer block.
 */
export function keepMessage(message: string): KeptMessage {
  const flat = message
    .slice(0, maxChars * 4)
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/(?!\n)\p{Cc}/gu, '')
    .replace(unseen, '')
    .toWellFormed();
  const isCut = flat.length > maxChars || message.length > maxChars * 4;
  const lines = [...flat.slice(0, maxChars).toWellFormed().split('\n'), ...(isCut ? ['[cut here]'] : [])]
    .map((line) => line.trimEnd())
    // At most one blank line between paragraphs, none around them.
    .filter((line, at, all) => line !== '' || (at > 0 && all[at - 1] !== ''));
  while (lines.at(-1) === '') lines.pop();
  const end = lines.lastIndexOf('');
  const last = end < 0 ? [] : lines.slice(end + 1);
  let from = last.length;
  for (const [at, line] of [...last.entries()].reverse()) {
    if (isTrailer(line)) from = at;
    else if (!line.startsWith(' ')) break;
  }
  const block = unfolded(last.slice(from));
  const isBlock = block.length > 0 && (from === 0 || block.some((line) => ofGit.test(line)));
  const text = (isBlock ? lines.slice(0, end + 1 + from) : lines).map((line) =>
    reserved.test(line) ? `> ${line}` : line,
  );
  return {
    text: text.join('\n').trim(),
    trailers: isBlock ? block.filter((line) => !reserved.test(line)) : [],
  };
}

function isTrailer(line: string): boolean {
  return trailer.test(line) || ofGit.test(line);
}

/** A line that begins with a blank continues the one before. */
function unfolded(lines: readonly string[]): readonly string[] {
  return lines
    .join('\n')
    .replace(/\n +/g, ' ')
    .split('\n')
    .filter((line) => line !== '');
}

/** The merged tree, or the paths that conflict. */
export type MergeOutcome =
  | { readonly tree: string; readonly conflicts?: undefined }
  | { readonly tree?: undefined; readonly conflicts: readonly string[] };

const scheduler = { name: 'writ', email: 'scheduler@writ.invalid' };

/**
 * Merges two changes of `base` without a working tree, ref or index; new objects are written to `place`. Conflicts
 * are in git's order. The trees are wrapped in commits, because git before 2.40 accepts no other merge base.
 */
export async function mergeTrees(
  place: Scratch,
  base: string,
  ours: string,
  theirs: string,
): Promise<MergeOutcome> {
  if (ours === base || ours === theirs) return { tree: theirs };
  if (theirs === base) return { tree: ours };
  const commit = (tree: string, parents: readonly string[], message: string): Promise<string> =>
    createCommit(
      place,
      { tree, parents, message, author: scheduler, committer: scheduler, authoredAtMs: 0, committedAtMs: 0 },
      false,
    );
  const root = await commit(base, [], 'base');
  // Without different messages, two equal trees would be one commit.
  const [left, right] = await Promise.all([commit(ours, [root], 'ours'), commit(theirs, [root], 'theirs')]);
  return mergeCommits(place, left, right);
}

/** Merges two commits without a working tree, ref or index; new objects are written to `place`. */
export async function mergeCommits(place: GitDirectory, left: string, right: string): Promise<MergeOutcome> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', left, right];
  const { code, stdout, stderr } = await askGit(place, args);
  const [tree = '', ...paths] = stdout.toString('utf8').split('\0');
  if (code === 0 && isObjectId(tree)) return { tree };
  if (code === 1) return { conflicts: [...new Set(paths.filter((path) => path !== ''))] };
  if (code !== 129) throw gitFailed(args, code, stderr);
  throw new WritError('GIT_FAILED', {
    message: 'this version of git cannot merge without a working tree',
    detail: { command: 'merge-tree', exitCode: code, stderr },
    hints: [
      'install git 2.38 or newer',
      'or rebase the change onto the target branch first, so that no merge is needed',
    ],
  });
}
