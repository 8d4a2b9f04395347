import { WritError } from '../../core/base/errors.ts';
import { type GitDirectory, gitLine } from './git.ts';
import type { Identity } from './identity.ts';
import { keepMessage } from './kept-message.ts';
import { writeLooseObject } from './loose-object.ts';
import type { Scratch } from './scratch.ts';

/** Everything a commit object is made of; same request, same id. */
export interface CommitRequest {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Identity;
  readonly committer: Identity;
  /** Epoch milliseconds; git keeps whole seconds, in UTC. */
  readonly authoredAtMs: number;
  readonly committedAtMs: number;
}

/** What `commitMessage` is made of. */
export interface SealedMessage {
  readonly changeType: string;
  readonly summary: string;
  /** Instead of the two; may be anybody's words. */
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

/** Makes a commit object by plumbing: no hook, no signature, no ref is moved. Answers its id. */
export async function createCommit(place: GitDirectory, request: CommitRequest): Promise<string> {
  const parents = request.parents.flatMap((parent) => ['-p', parent]);
  return gitLine(place, ['commit-tree', '--no-gpg-sign', ...parents, '-F', '-', request.tree], {
    input: request.message,
    env: {
      GIT_AUTHOR_NAME: oneLine(request.author.name),
      GIT_AUTHOR_EMAIL: oneLine(request.author.email),
      GIT_AUTHOR_DATE: gitDate(request.authoredAtMs),
      GIT_COMMITTER_NAME: oneLine(request.committer.name),
      GIT_COMMITTER_EMAIL: oneLine(request.committer.email),
      GIT_COMMITTER_DATE: gitDate(request.committedAtMs),
    },
  });
}

/**
 * The same commit as `createCommit`'s without a process, for commits of our own in a scratch; with `durable` it
 * outlives a power cut. INTERNAL for an identity that git would refuse.
 */
export async function writeCommit(
  scratch: Scratch,
  request: CommitRequest,
  durable: boolean,
): Promise<string> {
  const lines = [
    `tree ${request.tree}`,
    ...[...new Set(request.parents)].map((parent) => `parent ${parent}`),
    `author ${identityLine(request.author, request.authoredAtMs)}`,
    `committer ${identityLine(request.committer, request.committedAtMs)}`,
    '',
    request.message,
  ];
  return writeLooseObject(scratch, { type: 'commit', bytes: Buffer.from(lines.join('\n')) }, durable);
}

function identityLine({ name, email }: Identity, atMs: number): string {
  const who = withoutCrud(oneLine(name));
  if (who === '') throw new WritError('INTERNAL', { message: `\`${name}\` is no name to commit with` });
  return `${who} <${withoutCrud(oneLine(email))}> ${gitDate(atMs).slice(1)}`;
}

/** As git strips names. */
function withoutCrud(text: string): string {
  const isCrud = (char: string | undefined): boolean => char !== undefined && /[\0- .,:;<>"\\']/.test(char);
  let from = 0;
  let to = text.length;
  while (from < to && isCrud(text[from])) from += 1;
  while (from < to && isCrud(text[to - 1])) to -= 1;
  return text.slice(from, to).replace(/[<>]/g, '');
}

/**
 * The message of a sealed commit: prefix by change type and summary, or the words given instead; then one block of
 * trailers, whose last three are those that `writ verify` reads.
 */
export function commitMessage(message: SealedMessage): string {
  const subject = `${prefixes[message.changeType] ?? ''}${oneLine(message.summary)}`;
  const kept = keepMessage(message.message ?? '');
  const trailers = [
    ...kept.trailers,
    ...(message.coAuthors ?? []).map(
      ({ name, email }) => `Co-authored-by: ${oneLine(name)} <${oneLine(email)}>`,
    ),
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

function gitDate(epochMs: number): string {
  return `@${Math.floor(epochMs / 1000)} +0000`;
}
