import type { Identity } from '../git/identity.ts';
import { readMailboxes } from '../git/mailbox.ts';

/** Whom a patch names as its authors. */
export interface StatedAuthors {
  readonly authors: readonly Identity[];
  /** The patch, or a part of it, stands in no mail that says who sent it. */
  readonly unsigned: boolean;
}

const maxHeaderBytes = 65_536;
const maxAuthors = 1000;

/** The line that a mail begins with in a mailbox. */
export const mboxLine = /^From \S+ +\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\b/;
const headerLine = /^[A-Za-z][A-Za-z0-9-]{0,63}:/;
const changeLine = /^(?:diff --git |diff -|--- \S|Index: )/;
const fromLine = /^>?From:/i;
const coAuthorLine = /^Co-authored-by[ \t]{0,100}:/i;

/**
 * Whom a patch names: the `From:` of each mail in it, one that stands first in a mail's text, and every
 * `Co-authored-by:` there. A sign-off is not authorship. Nothing that stands outside of a mail names anybody: whoever
 * brings a bare diff answers for it.
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

/** The input begins with a mail's own header block, not with words that happen to have a colon. */
export function isMail(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, maxHeaderBytes).trimStart();
  const [block = ''] = head.split(/\r?\n\r?\n/, 1);
  return /^From:/im.test(block) && /^(?:Subject|Date|Message-Id):/im.test(block);
}

/**
 * Lines without their ends; folded header lines are joined. Those of changed content cannot name anybody and are passed
 * over undecoded.
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
