/** Attachments of messages: pasted and piped text, uncommitted files and images, kept with their thread by digest. */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Attached } from '../../engine/draft/reading-agent.ts';
import { openPrivateDirectory, readPrivateFile, writePrivateFile } from '../../http/private-files.ts';
import { askGit } from '../../workspace/git/git.ts';
import type { Repository } from '../../workspace/git/repository.ts';

/** An attachment as the thread records it; its content is a file of the thread's directory, named by the digest. */
export type Attachment = Omit<Attached, 'text' | 'data'> & { readonly bytes: number };

/** Text that came with a message. */
export interface GivenText {
  readonly name: string;
  readonly text: string;
}

/** Text or an image (base64) that came with a message. */
export type GivenAttachment = GivenText | { readonly name: string; readonly data: string };

/** A message, and what came with it. */
export interface SaidWithText {
  readonly text: string;
  readonly attachments?: readonly GivenAttachment[];
}

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
 * REQUEST_INVALID for what is too large.
 */
export async function attachTo(
  { directory, repository }: { readonly directory: string; readonly repository: Repository },
  { text, attachments = [] }: SaidWithText,
): Promise<{ readonly text: string; readonly attachments?: readonly Attachment[] }> {
  const split = splitWords(text);
  const found: (Attached & { readonly bytes: number })[] = [];
  for (const one of [...attachments, ...split.attachments]) {
    if ('data' in one) {
      found.push(givenImage(one));
      continue;
    }
    const { name, text: given } = one;
    const bytes = Buffer.byteLength(given);
    requireSize(name, bytes, attachmentBounds.text);
    found.push({
      name,
      origin: 'user-provided',
      mediaType: 'text/plain',
      sha256: sha256Hex(given),
      text: given,
      bytes,
    });
  }
  if (!isCommand(text))
    for (const path of mentioned(split.text)) {
      const one = await readMentioned(repository, path);
      if (one !== undefined) found.push(one);
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
function splitWords(text: string): { readonly text: string; readonly attachments: readonly GivenText[] } {
  if (isCommand(text) || text.trim().length <= attachmentBounds.words) return { text, attachments: [] };
  const name = 'message.txt';
  const [head, tail] = [text.slice(0, keptWords).toWellFormed(), text.slice(-keptWords).toWellFormed()];
  const between = `\n[… the whole message is attached as ${name} …]\n`;
  // Signs that words may not have are kept in the attachment alone.
  const plain = (part: string): string => part.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, ' ');
  return { text: plain(head) + between + plain(tail), attachments: [{ name, text }] };
}

/** Paths behind an `@`, each once; in quotes if they contain spaces. */
function mentioned(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:^|\s)@(?:"([^"\n]{1,400})"|([^\s"]{1,400}))/gu)];
  return [...new Set(found.map(([, quoted, plain = '']) => quoted ?? plain.replace(/[.,;:!?)]+$/, '')))];
}

async function readMentioned(
  repository: Repository,
  path: string,
): Promise<(Attached & { readonly bytes: number }) | undefined> {
  const root = await realpath(repository.root);
  const real = await realpath(join(root, path)).catch(() => undefined);
  if (real === undefined || !real.startsWith(root + sep)) return undefined;
  if (real.slice(root.length).split(sep).includes('.git')) return undefined;
  const bytes = await readBounded(real, path);
  if (bytes === undefined) return undefined;
  const mediaType = imageType(bytes);
  const known = { name: path, sha256: sha256Hex(bytes), bytes: bytes.length };
  if (mediaType !== undefined) {
    requireSize(path, bytes.length, attachmentBounds.image);
    return { ...known, origin: 'user-provided', mediaType, data: bytes.toString('base64') };
  }
  if (bytes.includes(0) || !(await isUncommitted(repository, path))) return undefined;
  requireSize(path, bytes.length, attachmentBounds.text);
  return { ...known, origin: 'uncommitted', mediaType: 'text/plain', text: bytes.toString('utf8') };
}

function givenImage({ name, data: given }: { readonly name: string; readonly data: string }) {
  const bytes = Buffer.from(given, 'base64');
  requireSize(name, bytes.length, attachmentBounds.image);
  const mediaType = imageType(bytes);
  if (mediaType === undefined) throw invalid(`\`${name}\` is not a PNG, JPEG or WebP image`);
  const data = bytes.toString('base64');
  const origin = 'user-provided' as const;
  return { name, origin, mediaType, sha256: sha256Hex(bytes), data, bytes: bytes.length };
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

/** Changed or new, and not ignored: an ignored file may hold what no model is to see. */
async function isUncommitted(repository: Repository, path: string): Promise<boolean> {
  const args = ['status', '--porcelain', '-z', '--untracked-files=all', '--', path];
  const { code, stdout } = await askGit(repository, args, { maxBytes: 64 * 1024 });
  return code === 0 && stdout.length > 0;
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
