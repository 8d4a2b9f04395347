/** Attachments of messages: pasted and piped text, uncommitted files and images, kept with their thread by digest. */
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { Attached } from '../../engine/draft/reading-agent.ts';
import { openPrivateDirectory, readPrivateFile, writePrivateFile } from '../../http/private-files.ts';
import { askGit } from '../../workspace/git/git.ts';
import type { Repository } from '../../workspace/git/repository.ts';

/** An attachment as the thread records it; its content is a file of the thread's directory, named by the digest. */
export type Attachment = Omit<Attached, 'text' | 'data'> & { readonly bytes: number };

/** What came with a message: text, an image in base64, or the digest of an upload. */
export type Given = { readonly name: string } & (
  | { readonly text: string }
  | { readonly data: string }
  | { readonly sha256: string }
);

/** A message, and what came with it. */
export interface SaidWithText {
  readonly text: string;
  /** What the person wrote, if `text` is a command of a file in other words. */
  readonly typed?: string;
  readonly attachments?: readonly Given[];
}

/** What is attached, before it is stored. */
type Found = Attached & { readonly bytes: number };

export const attachmentBounds = {
  /** Characters of a message that a model gets as words. */
  words: 8000,
  text: 1024 * 1024,
  image: 5 * 1024 * 1024,
  count: 10,
} as const;

/** Characters at either end of a long message that stay its words. */
const keptWords = 1500;

/**
 * Separates what comes with a message from its words, and stores it. A message that is too long for a model's question
 * keeps both of its ends and is attached as a whole. `@path` attaches an image, and a file that differs from HEAD.
 * Outside the repository only images are read, and only those that the person named. REQUEST_INVALID for what is too
 * large, is missing or may not be read.
 */
export async function attachTo(
  {
    directory,
    repository,
    uploads,
  }: { readonly directory: string; readonly repository: Repository; readonly uploads: Uploads },
  { text, typed = text, attachments = [] }: SaidWithText,
): Promise<{ readonly text: string; readonly attachments?: readonly Attachment[] }> {
  const split = splitWords(text);
  const found = [...attachments, ...split.attachments].map((given) => {
    if ('text' in given) return textFound(given.name, given.text);
    return 'data' in given ? imageFound(given) : { ...uploads.find(given.sha256), name: given.name };
  });
  if (!isCommand(text)) {
    const own = new Set(mentioned(typed));
    for (const path of mentioned(split.text)) {
      const one = await readMentioned(repository, path, own.has(path)).catch((fault: unknown) => {
        // A person can correct their own words, and not those of a command file.
        if (own.has(path)) throw fault;
        return undefined;
      });
      if (one !== undefined) found.push(one);
    }
  }
  if (found.length === 0) return { text };
  if (found.length > attachmentBounds.count)
    throw invalid(`expected at most ${attachmentBounds.count} attachments, found ${found.length}`);
  const place = await openPrivateDirectory(directory, [folder]);
  for (const { sha256, text: content, data = content ?? '' } of found)
    await writePrivateFile(join(place, sha256), data);
  return {
    text: split.text,
    attachments: found.map(({ text: _, data: __, ...one }) => one),
  };
}

const folder = 'attachments';

/** One piece of an uploaded file: `at` octets came before it, and the file has `of`. `data` is base64. */
export interface UploadPiece {
  readonly name: string;
  readonly at: number;
  readonly of: number;
  readonly data: string;
}

/** Files that a client uploads piece by piece. The last few are kept in memory until a message names them. */
export interface Uploads {
  /** Returns how much arrived; with the last piece also the digest. REQUEST_INVALID for what cannot be attached. */
  take(piece: UploadPiece): { readonly received: number; readonly sha256?: string };
  /** REQUEST_INVALID if no upload has this digest. */
  find(sha256: string): Found;
}

/** One file is uploaded at a time: the first piece of a file discards an unfinished one. */
export function openUploads(): Uploads {
  const whole = new Map<string, Found>();
  let begun = { name: '', of: 0, received: 0, parts: [] as Buffer[] };
  return {
    take({ name, at, of, data }) {
      requireSize(name, of, attachmentBounds.image);
      if (at === 0) begun = { name, of, received: 0, parts: [] };
      const part = Buffer.from(data, 'base64');
      const received = at + part.length;
      if (
        name !== begun.name ||
        of !== begun.of ||
        at !== begun.received ||
        part.length === 0 ||
        received > of
      )
        throw invalid(`a piece of \`${name}\` does not follow what was received: upload it again`);
      begun = { ...begun, received, parts: [...begun.parts, part] };
      if (received < of) return { received };
      const found = fileFound(name, Buffer.concat(begun.parts));
      begun = { name: '', of: 0, received: 0, parts: [] };
      if (found === undefined)
        throw invalid(
          `\`${name}\` is neither text in UTF-8 nor a PNG, JPEG or WebP image: nothing else is attached`,
        );
      whole.delete(found.sha256);
      whole.set(found.sha256, found);
      for (const [oldest] of [...whole].slice(0, -attachmentBounds.count)) whole.delete(oldest);
      return { received, sha256: found.sha256 };
    },
    find(sha256) {
      const found = whole.get(sha256);
      if (found === undefined) throw invalid('an attachment is not there any more: attach it again');
      return found;
    },
  };
}

function textFound(name: string, text: string): Found {
  const bytes = Buffer.byteLength(text);
  requireSize(name, bytes, attachmentBounds.text);
  return { name, origin: 'user-provided', mediaType: 'text/plain', sha256: sha256Hex(text), text, bytes };
}

/** An image or text; `undefined` for anything else. */
function fileFound(name: string, bytes: Buffer): Found | undefined {
  const mediaType = imageType(bytes);
  if (mediaType === undefined)
    return bytes.includes(0) || !isUtf8(bytes) ? undefined : textFound(name, bytes.toString('utf8'));
  requireSize(name, bytes.length, attachmentBounds.image);
  const known = { name, sha256: sha256Hex(bytes), bytes: bytes.length };
  return { ...known, origin: 'user-provided', mediaType, data: bytes.toString('base64') };
}

/** Reads stored attachments. One that is gone, or has another digest, is left out. */
export async function readAttached(
  directory: string,
  attachments: readonly Attachment[],
): Promise<readonly Attached[]> {
  const read: Attached[] = [];
  for (const one of attachments) {
    const content = await readPrivateFile(join(directory, folder, one.sha256), attachmentBounds.image * 2);
    if (content === undefined) continue;
    const isImage = one.mediaType !== 'text/plain';
    if (sha256Hex(isImage ? Buffer.from(content, 'base64') : content) !== one.sha256) continue;
    read.push({ ...one, ...(isImage ? { data: content } : { text: content }) });
  }
  return read;
}

/** Copies stored attachments to another thread. */
export async function copyAttached(
  from: string,
  to: string,
  attachments: readonly Pick<Attachment, 'sha256'>[],
): Promise<void> {
  if (attachments.length === 0) return;
  const place = await openPrivateDirectory(to, [folder]);
  for (const { sha256 } of attachments) {
    const content = await readPrivateFile(join(from, folder, sha256), attachmentBounds.image * 2);
    if (content !== undefined) await writePrivateFile(join(place, sha256), content);
  }
}

/** Whether a message is a command and no words for a model: there, `@` has other meanings, and nothing is split. */
function isCommand(text: string): boolean {
  return /^\s*(?:!|\/(?!(?:ask|draft)\s))/.test(text);
}

/** What is too long in a command is refused where it is read. */
function splitWords(text: string): { readonly text: string; readonly attachments: readonly Given[] } {
  if (isCommand(text) || text.trim().length <= attachmentBounds.words) return { text, attachments: [] };
  const name = 'message.txt';
  const [head, tail] = [text.slice(0, keptWords).toWellFormed(), text.slice(-keptWords).toWellFormed()];
  const between = `\n[… the whole message is attached as ${name} …]\n`;
  // Signs that words may not have are kept in the attachment alone.
  const plain = (part: string): string => part.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, ' ');
  return { text: plain(head) + between + plain(tail), attachments: [{ name, text }] };
}

/** Paths behind an `@`, each once; spaces are in quotes or behind a backslash. */
function mentioned(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:^|\s)@(?:(["'])(.{1,400}?)\1|((?:\\ |[^\s"']){1,400}))/gu)];
  const paths = found.map(
    ([, , quoted, plain = '']) => quoted ?? unescaped(plain.replace(/[.,;:!?)]+$/, '')),
  );
  return [...new Set(paths)];
}

function unescaped(path: string): string {
  return path.replaceAll(/\\(.)/gu, '$1');
}

const imageEnding = /\.(?:png|jpe?g|webp)$/i;

/**
 * Puts the `@` before absolute paths of images in a message of one line: terminals insert the path of a file that is
 * dropped, in quotes or with backslashes. Words that name no image stay.
 */
export async function withImagePaths(text: string): Promise<string> {
  if (text.length > attachmentBounds.words || text.trim().includes('\n')) return text;
  let read = '';
  let from = 0;
  for (const found of text.matchAll(
    /(?<=^|\s)(?:"(~?\/[^"]{1,400})"|'(~?\/[^']{1,400})'|(~?\/(?:\\.|[^\s\\"']){1,400}))/gu,
  )) {
    const [whole, double, single, plain = ''] = found;
    const [, named = '', behind = ''] = /^(.*?)([.,;:!?)]*)$/s.exec(plain) ?? [];
    const path = double ?? single ?? unescaped(named);
    // In a command, an argument is no attachment.
    if (isCommand(read + text.slice(from, found.index)) || !imageEnding.test(path)) continue;
    const real = await realpath(inHome(path)).catch(() => '');
    const bytes = real === '' ? undefined : await readBounded(real, path);
    if (bytes === undefined || imageType(bytes) === undefined) continue;
    read += `${text.slice(from, found.index)}${/\s/.test(path) ? `@"${path}"` : `@${path}`}${behind}`;
    from = found.index + whole.length;
  }
  return read + text.slice(from);
}

function inHome(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}

/** Returns `undefined` for words that are no path, and for a file that a model can read without help. */
async function readMentioned(
  repository: Repository,
  path: string,
  isOwn: boolean,
): Promise<Found | undefined> {
  const root = await realpath(repository.root);
  const wanted = resolve(root, inHome(path));
  const isNamedOutside = isAbsolute(inHome(path)) || !wanted.startsWith(root + sep);
  // Only a person's own words lead out of the repository.
  if (isNamedOutside && !isOwn) return undefined;
  let real: string;
  try {
    real = await realpath(wanted);
  } catch (fault) {
    if (!(await isPathFor(root, path))) return undefined;
    const isClosed = /^E(?:ACCES|PERM)$/.test(`${(fault as NodeJS.ErrnoException).code}`);
    throw notAttached(path, isClosed ? 'you may not read it' : 'there is no such file');
  }
  const isOutside = real !== root && !real.startsWith(root + sep);
  if (isOutside && !isNamedOutside)
    throw notAttached(
      path,
      'it is a link that leads out of the repository',
      'Name the file that it leads to',
    );
  if (real.split(sep).includes('.git'))
    throw notAttached(path, 'writ shows no file of Git to a model', 'Paste the part that you mean');
  const bytes = await readBounded(real, path);
  if (bytes !== undefined && imageType(bytes) !== undefined) return fileFound(path, bytes);
  if (isOutside)
    throw notAttached(
      path,
      bytes === undefined
        ? 'it cannot be read as a file'
        : 'it is outside the repository, and no PNG, JPEG or WebP image',
      'Paste or pipe the text, or copy the file into the repository',
    );
  if (bytes === undefined) return undefined;
  const status = await statusOf(repository, real.slice(root.length + 1));
  if (status === 'ignored')
    throw notAttached(path, 'Git ignores it, so it may hold secrets', 'Paste the part that a model may see');
  if (status === 'same' || bytes.includes(0)) return undefined;
  return { ...textFound(path, bytes.toString('utf8')), origin: 'uncommitted' };
}

/** Whether words behind an `@` can only be meant as a path: `@media` and `@src/util` are words of other languages. */
async function isPathFor(root: string, path: string): Promise<boolean> {
  if (imageEnding.test(path) || /^(?:~|\.{1,2})\//.test(path)) return true;
  const [, top, first = top] = /^(?:(\/[^/]+)\/|([^/]+)\/.*\.\w{1,8}$)/.exec(path) ?? [];
  if (first === undefined) return false;
  return realpath(resolve(root, first)).then(
    () => true,
    () => false,
  );
}

function notAttached(path: string, why: string, next = 'Correct the path'): WritError {
  return invalid(
    `\`@${printable(path)}\` is not attached: ${why}. ${next}, or put it in backticks to send it as words.`,
  );
}

function imageFound({ name, data }: { readonly name: string; readonly data: string }): Found {
  const found = fileFound(name, Buffer.from(data, 'base64'));
  if (found?.data === undefined) throw invalid(`\`${name}\` is not a PNG, JPEG or WebP image`);
  return found;
}

/** One octet more than the largest image, so that a larger file is noticed. */
async function readBounded(real: string, path: string): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    requireSize(path, stats.size, attachmentBounds.image);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** How a file differs from HEAD; an ignored file may hold what no model is to see. */
async function statusOf(repository: Repository, path: string): Promise<'same' | 'other' | 'ignored'> {
  const args = ['status', '--porcelain', '-z', '--untracked-files=all', '--ignored', '--', path];
  const { code, stdout } = await askGit(repository, args, { maxBytes: 64 * 1024 });
  if (code !== 0 || stdout.length === 0) return 'same';
  return stdout.toString('latin1').startsWith('!!') ? 'ignored' : 'other';
}

/** Media type by the first octets; `undefined` for anything but PNG, JPEG and WebP. */
function imageType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  return head.startsWith('RIFF') && head.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}

function requireSize(name: string, found: number, most: number): void {
  if (found > most) throw invalid(`\`${name}\` has ${found} octets, and at most ${most} are attached`);
}

function invalid(message: string): WritError {
  return new WritError('REQUEST_INVALID', { message });
}
