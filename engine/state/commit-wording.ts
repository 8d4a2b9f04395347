import { WritError } from '../../core/base/errors.ts';
import { fields, listOf, oneOf, type Shape, text, wholeNumber } from '../../store/shape.ts';
import { type RangeCommit, rangeCommits } from '../../workspace/git/commit-log.ts';
import { type Identity, plainIdentity } from '../../workspace/git/identity.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readMail } from '../../workspace/patch/mail.ts';
import type { Origin, RunRequest } from './run-request.ts';

/** Parts of what would be sealed beside the change. */
export type WordingPart = 'message' | 'author' | 'people' | 'summary';

/** Words and people of the sealed commit, as far as somebody gave them; fixed when the run starts. */
export interface CommitWording {
  /** Replaces the commit message that is built from the spec's change type and summary. */
  readonly message?: string;
  readonly author?: Identity;
  /** Epoch milliseconds. */
  readonly authoredAtMs?: number;
  /** Other authors of the commit's content. */
  readonly coAuthors?: readonly Identity[];
  /** Parts that held a secret when they came, and are masked here: the change is refused for them. */
  readonly refused?: readonly WordingPart[];
}

const identity = fields({ name: text, email: text });

/** A wording as the journal keeps it. */
export const wordingShape: Shape<unknown> = fields(
  {},
  {
    message: text,
    author: identity,
    authoredAtMs: wholeNumber,
    coAuthors: listOf(identity),
    refused: listOf(oneOf('message', 'author', 'people', 'summary')),
  },
);

/** Latest accepted author date: the end of 2099. */
const lastDate = 4_102_444_799;
const maxMessage = 65_536;
const maxCoAuthors = 1000;

/**
 * Reads author, date and message for the sealed commit: from a range's only commit, or from the mail that the patch
 * is. For several commits, reads only their authors. `--message` and `--author` win; a replaced author becomes a
 * co-author. Throws USAGE for an author that is not `Name <mail>`.
 */
export async function readWording(
  repository: Repository,
  request: Pick<RunRequest, 'message' | 'author'> & Partial<Pick<RunRequest, 'source'>>,
  { range }: Origin,
): Promise<CommitWording> {
  const commits = range ? await rangeCommits(repository, range.base.commit, range.tip) : [];
  const mail =
    request.source?.kind === 'patch' ? await readMail(repository, request.source.bytes) : undefined;
  const [only = mail] = commits.length === 1 ? commits : [];
  const given = request.author === undefined ? undefined : parseAuthor(request.author);
  const author = given ?? (only?.author && plainIdentity(only.author));
  const message = request.message ?? only?.message;
  const coAuthors = othersIn(commits, author);
  return {
    ...(message === undefined ? {} : { message: message.slice(0, maxMessage).toWellFormed() }),
    ...(author === undefined ? {} : { author }),
    ...(only?.authoredAt !== undefined && given === undefined && isDate(only.authoredAt)
      ? { authoredAtMs: only.authoredAt * 1000 }
      : {}),
    ...(coAuthors.length === 0 ? {} : { coAuthors }),
  };
}

function isDate(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= lastDate;
}

/** Distinct by address, in the order in which they came, without the author of the commit. */
function othersIn(commits: readonly RangeCommit[], author: Identity | undefined): readonly Identity[] {
  const found = new Map<string, Identity>();
  for (const commit of commits) {
    const person = plainIdentity(commit.author);
    const key = (person.email || person.name).toLowerCase();
    if (!found.has(key)) found.set(key, person);
  }
  if (author) found.delete((author.email || author.name).toLowerCase());
  return [...found.values()].slice(0, maxCoAuthors);
}

function parseAuthor(given: string): Identity {
  const found = /^([^<>\p{Cc}]{1,200}) <([^<>\s\p{Cc}]{1,254})>$/u.exec(given.trim());
  const person = found && plainIdentity({ name: found[1] ?? '', email: found[2] ?? '' });
  if (person && person.name !== 'unknown') return person;
  throw new WritError('USAGE', {
    message: `expected an author as \`Name <mail@example.org>\`, found \`${given.slice(0, 200).replace(/\p{Cc}/gu, ' ')}\``,
    detail: { option: 'author' },
  });
}
