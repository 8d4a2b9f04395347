import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askGit, type GitDirectory } from '../git/git.ts';
import type { Identity } from '../git/identity.ts';
import { isMail, mboxLine } from './stated-authors.ts';

/** What one mail says of the commit that it carries, as `git am` takes it over. */
export interface MailWords {
  /** Subject and body. */
  readonly message: string;
  readonly author?: Identity;
  /** Epoch seconds. */
  readonly authoredAt?: number;
}

/** No message is longer; what follows is the change. */
const maxHeadBytes = 1024 * 1024;
const opening = Buffer.from('\nFrom ');

/**
 * Author, date and message of a patch that is exactly one mail (`git format-patch`), read by git itself: words of
 * coding and of headers in the text, scissors where `mailinfo.scissors` asks for them, nothing from `---` on.
 * `undefined` for a bare diff, several mails, and what git does not read.
 */
export async function readMail(place: GitDirectory, patch: Uint8Array): Promise<MailWords | undefined> {
  const bytes = Buffer.from(patch.buffer, patch.byteOffset, patch.byteLength);
  if (!isOneMail(bytes)) return undefined;
  const box = await mkdtemp(join(tmpdir(), 'writ-mail-'));
  try {
    const text = join(box, 'message');
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
    return {
      message,
      ...(name === '' || email === '' ? {} : { author: { name, email } }),
      ...(Number.isNaN(authoredAtMs) ? {} : { authoredAt: Math.floor(authoredAtMs / 1000) }),
    };
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}

/** It begins as a mail, and no other begins in it. */
function isOneMail(bytes: Buffer): boolean {
  const lineAt = (at: number): string => bytes.toString('latin1', at, at + 200).split('\n', 1)[0] ?? '';
  if (!mboxLine.test(lineAt(0)) && !isMail(bytes)) return false;
  for (let at = bytes.indexOf(opening); at !== -1; at = bytes.indexOf(opening, at + 1))
    if (mboxLine.test(lineAt(at + 1))) return false;
  return true;
}
