/* Reads authors, date and message from the mails of a patch. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Identity, readMailboxes } from '../git/commit-log.ts';
import { askGit, type GitDirectory } from '../git/git.ts';
import { inTemporaryDirectory } from '../git/scratch.ts';

/** What `git am` would use for the commit of one mail. */
interface MailWords {
  readonly message: string;
  readonly author?: Identity;
  /** Epoch seconds. */
  readonly authoredAt?: number;
  readonly zone?: string;
}

/** A longer message is cut. */
const maxHeadBytes = 1024 * 1024;
const opening = Buffer.from('\nFrom ');

/**
 * Author, date and message of a patch that is exactly one mail (`git format-patch`), read by git itself: encoded
 * words, headers in the text, scissors if `mailinfo.scissors` is set, and nothing from `---` on. `undefined` for a
 * bare diff, several mails, and what git cannot read.
 */
export async function readMail(place: GitDirectory, patch: Uint8Array): Promise<MailWords | undefined> {
  const bytes = Buffer.from(patch.buffer, patch.byteOffset, patch.byteLength);
  if (!isOneMail(bytes)) return undefined;
  return inTemporaryDirectory('mail', async (directory) => {
    const text = join(directory, 'message');
    const { code, stdout } = await askGit(place, ['mailinfo', '--encoding=UTF-8', text, '/dev/null'], {
      input: bytes.subarray(0, maxHeadBytes),
    });
    if (code !== 0) return undefined;
    const said = (name: string): string =>
      new RegExp(`^${name}: (.*)$`, 'm').exec(stdout.toString('utf8'))?.[1]?.trim() ?? '';
    const subject = said('Subject');
    const body = (await readFile(text, 'utf8')).trim();
    const message = [subject, body].filter((part) => part !== '').join('\n\n');
    const [name, email] = [said('Author'), said('Email')];
    const authoredAtMs = Date.parse(said('Date'));
    const [zone] = /[+-]\d{4}$/.exec(said('Date')) ?? [];
    return {
      message,
      ...(name === '' || email === '' ? {} : { author: { name, email } }),
      ...(Number.isNaN(authoredAtMs)
        ? {}
        : { authoredAt: Math.floor(authoredAtMs / 1000), ...(zone === undefined ? {} : { zone }) }),
    };
  });
}

/** True if it begins as a mail, and no other mail begins in it. */
function isOneMail(bytes: Buffer): boolean {
  const lineAt = (at: number): string => bytes.toString('latin1', at, at + 200).split('\n', 1)[0] ?? '';
  if (!mboxLine.test(lineAt(0)) && !isMail(bytes)) return false;
  for (let at = bytes.indexOf(opening); at !== -1; at = bytes.indexOf(opening, at + 1))
    if (mboxLine.test(lineAt(at + 1))) return false;
  return true;
}

interface StatedAuthors {
  readonly authors: readonly Identity[];
  /** The patch, or a part of it, is in no mail that names a sender. */
  readonly unsigned: boolean;
}

const maxHeaderBytes = 65_536;
const maxAuthors = 1000;

/** The first line of a mail in a mailbox. */
const mboxLine = /^From \S+ +\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\b/;
const headerLine = /^[A-Za-z][A-Za-z0-9-]{0,63}:/;
const changeLine = /^(?:diff --git |diff -|--- \S|Index: )/;
const fromLine = /^>?From:/i;
const coAuthorLine = /^Co-authored-by[ \t]{0,100}:/i;

/**
 * The authors that a patch names: the `From:` of each mail in it, a `From:` at the start of a mail's text, and every
 * `Co-authored-by:` there. A sign-off is not authorship. Text outside of a mail names no author; the submitter of a
 * bare diff is responsible for it.
 */
export function statedAuthors(patch: Uint8Array): StatedAuthors {
  const authors = new Map<string, Identity>();
  let unsigned = false;
  let place: 'outside' | 'headers' | 'text' | 'change' = 'outside';
  let isNamed = false;
  let isFirst = true;
  const take = (value: string): boolean => {
    const found = readMailboxes(value);
    for (const one of found) if (authors.size < maxAuthors) authors.set(`${one.name}\0${one.email}`, one);
    return found.length > 0;
  };
  const bytes = Buffer.from(patch.buffer, patch.byteOffset, patch.byteLength);
  for (const line of linesOf(bytes)) {
    if (mboxLine.test(line)) {
      [place, isNamed, isFirst] = ['headers', false, true];
    } else if (place === 'outside' && isFirst && line !== '') {
      isFirst = false;
      if (headerLine.test(line) && isMail(bytes)) place = 'headers';
    }
    if (place === 'headers') {
      if (line === '') [place, isFirst] = ['text', true];
      else if (/^From:/i.test(line)) isNamed = take(line.slice(5)) || isNamed;
    } else if (changeLine.test(line)) {
      if (!isNamed) unsigned = true;
      if (place === 'text') place = 'change';
    } else if (place === 'text') {
      if (line === '---') place = 'change';
      else if (isFirst && fromLine.test(line)) isNamed = take(line.replace(fromLine, '')) || isNamed;
      else if (coAuthorLine.test(line)) take(line.slice(line.indexOf(':') + 1));
      if (line !== '' && !headerLine.test(line)) isFirst = false;
    }
  }
  return { authors: [...authors.values()], unsigned: unsigned || authors.size === 0 };
}

/** True if the input begins with the header block of a mail, not with text that contains a colon. */
function isMail(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, maxHeaderBytes).trimStart();
  const [block = ''] = head.split(/\r?\n\r?\n/, 1);
  return /^From:/im.test(block) && /^(?:Subject|Date|Message-Id):/im.test(block);
}

/**
 * Lines without their ends, with folded header lines joined. Lines of changed content are skipped, because they name
 * no author.
 */
function* linesOf(bytes: Buffer): Generator<string> {
  let held: string | undefined;
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(10, from);
    const end = found < 0 ? bytes.length : found;
    const first = bytes[from];
    const isContent = first === 43 || first === 64 || (first === 45 && bytes[from + 1] !== 45);
    if (!isContent) {
      const line = bytes.toString('utf8', from, Math.min(end, from + maxHeaderBytes)).replace(/\r$/, '');
      if (
        held !== undefined &&
        headerLine.test(held) &&
        /^[ \t]/.test(line) &&
        held.length < maxHeaderBytes
      ) {
        held = `${held} ${line.trim()}`;
      } else {
        if (held !== undefined) yield held;
        held = line;
      }
    }
    from = end + 1;
  }
  if (held !== undefined) yield held;
}
