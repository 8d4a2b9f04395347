/* Cuts a diff of any size into pieces, in bounded memory. */
import { open } from 'node:fs/promises';
import { WritError } from '../../core/base/errors.ts';
import type { ChangeType, PatchFile } from '../../core/interfaces/patch-set.ts';
import { readHunkHeader, readSections } from '../../readers/diff/read-sections.ts';

/** Returns the file of a diff section from its header, without blobs or a tree. Line counts are unknown. */
export function readFileHeader(diff: Buffer, start: number, end: number): PatchFile {
  const header = headerOf(diff.subarray(start, end));
  const text = header.toString('latin1');
  const [found] = readSections(header);
  const [first, second] = found?.plainNames ?? [];
  const oldName = first ?? withoutPrefix(found?.oldName);
  const newName = second ?? withoutPrefix(found?.newName);
  const changeType = changeTypeOf(text);
  const isPair = changeType === 'rename' || changeType === 'copy';
  const newMode =
    /^(?:new file mode|new mode) (\d{6})$/m.exec(text)?.[1] ?? /^index \S+ (\d{6})$/m.exec(text)?.[1];
  return {
    path: newName ?? oldName ?? '',
    ...(isPair && oldName !== undefined ? { oldPath: oldName } : {}),
    changeType,
    ...(newMode === undefined ? {} : { newMode }),
    binary: /^(?:Binary files .* differ|GIT binary patch)$/m.test(text),
    linesAdded: 0,
    linesDeleted: 0,
    start,
    end,
  };
}

/** Up to the first hunk, bounded. */
function headerOf(section: Buffer): Buffer {
  const bounded = section.subarray(0, maxHeaderBytes);
  const hunk = bounded.indexOf('\n@@ -');
  return hunk < 0 ? bounded : bounded.subarray(0, hunk + 1);
}

function changeTypeOf(header: string): ChangeType {
  if (/^new file mode /m.test(header)) return 'add';
  if (/^deleted file mode /m.test(header)) return 'delete';
  if (/^rename to /m.test(header)) return 'rename';
  if (/^copy to /m.test(header)) return 'copy';
  return 'modify';
}

/** `a/` and `b/` as git writes them, and the letters of `diff.mnemonicPrefix`. */
function withoutPrefix(name: string | undefined): string | undefined {
  return name?.replace(/^[abciow]\//, '');
}

export interface CutOptions {
  /** Bytes of one piece, about; a longer line makes a longer piece. */
  readonly pieceBytes?: number;
  /** Maximum length of a line. Longer lines are left out and reported. */
  readonly maxLineBytes?: number;
  readonly onUnscanned: (unscanned: Unscanned) => void;
}

const feed = 10;
const newLine = Buffer.from('\n');
const gitHeader = Buffer.from('\ndiff --git ');
const maxHeaderBytes = 64 * 1024;

/**
 * Cuts a git diff of any size into pieces, in bounded memory. It cuts at file headers if possible, otherwise between
 * two lines of a hunk; the rest then gets its own hunk header. Text before the first header is prose. Empty input
 * yields no piece. Throws PATCH_MALFORMED for text without any header. The memory of a released piece is reused.
 */
export async function* cutDiff(
  source: AsyncIterable<Uint8Array>,
  { pieceBytes = 1024 * 1024, maxLineBytes = 16 * 1024 * 1024, onUnscanned }: CutOptions,
): AsyncGenerator<DiffPiece> {
  const cutter = new Cutter(pieceBytes, maxLineBytes, onUnscanned);
  for await (const chunk of source) {
    cutter.add(chunk);
    yield* cutter.take(false);
  }
  yield* cutter.take(true);
  if (!cutter.foundAny && !cutter.isEmpty) {
    throw new WritError('PATCH_MALFORMED', {
      message: 'expected a git diff, found no `diff --git` header in the input',
    });
  }
}

/** Where a cut section goes on. */
interface Continuation {
  /** Header of the section, without hunks. */
  readonly header: Buffer;
  /** The hunk that was cut, as its rest begins. */
  readonly hunk: Buffer;
  /** Of the candidate, where the rest begins. */
  readonly line: number;
}

class Cutter {
  foundAny = false;
  isEmpty = true;
  readonly #pieceBytes: number;
  readonly #maxLineBytes: number;
  readonly #onUnscanned: CutOptions['onUnscanned'];
  /** Memory of released pieces. */
  readonly #free = new Set<Buffer<SharedArrayBuffer>>();
  /** Begins with `\n`, so that every header is found by the same bytes. */
  #memory: Buffer<SharedArrayBuffer>;
  #length = 0;
  /** What is pending begins with the rest of a section. */
  #continues = false;
  /** The line under way is longer than allowed: its bytes are dropped until it ends. */
  #dropping = false;

  constructor(pieceBytes: number, maxLineBytes: number, onUnscanned: CutOptions['onUnscanned']) {
    this.#pieceBytes = pieceBytes;
    this.#maxLineBytes = maxLineBytes;
    this.#onUnscanned = onUnscanned;
    this.#memory = Buffer.from(new SharedArrayBuffer(2 * pieceBytes));
    this.#append(newLine);
  }

  add(chunk: Uint8Array): void {
    if (chunk.length > 0) this.isEmpty = false;
    if (!this.#dropping) {
      this.#append(chunk);
      return;
    }
    const end = chunk.indexOf(feed);
    if (end < 0) return;
    this.#dropping = false;
    this.add(chunk.subarray(end));
  }

  *take(isEnd: boolean): Generator<DiffPiece> {
    if (!isEnd && this.#length <= this.#pieceBytes) return;
    const pending = this.#memory.subarray(0, this.#length);
    // The part before the last header is complete.
    const cut = isEnd ? pending.length : pending.lastIndexOf(gitHeader);
    if (cut > 0) yield* this.#emit(cut, false, pending.subarray(cut));
    else yield* this.#cutInside(pending);
  }

  /** One section longer than a piece: cuts it behind its last whole line, once there is one in a hunk. */
  *#cutInside(pending: Buffer): Generator<DiffPiece> {
    const first = pending.indexOf(gitHeader);
    const lastFeed = pending.lastIndexOf(feed);
    if (first < 0) {
      // Prose before the first header: only a header's beginning can matter.
      this.#length -= Math.max(0, lastFeed);
      pending.copyWithin(0, Math.max(0, lastFeed));
      if (this.#length > this.#maxLineBytes) {
        this.#length = 1;
        this.#dropping = true;
      }
      return;
    }
    const tail = pending.length - lastFeed - 1;
    const continuation =
      lastFeed > first ? continuationAt(pending.subarray(first + 1, lastFeed + 1)) : undefined;
    if (tail > this.#maxLineBytes) {
      const { path } = readFileHeader(pending, first + 1, pending.length);
      const reason = `a line is longer than ${this.#maxLineBytes} bytes`;
      this.#onUnscanned({ path, ...(continuation ? { line: continuation.line } : {}), reason });
      // Its mark stays, so that the lines behind it keep their numbers.
      this.#length = lastFeed + 2;
      this.#dropping = true;
    }
    if (continuation === undefined) return;
    const rest = pending.subarray(lastFeed + 1, this.#length);
    yield* this.#emit(lastFeed, true, newLine, continuation.header, continuation.hunk, rest);
  }

  /** Yields the part before `end`, and continues with other memory, which begins with `next`. */
  *#emit(end: number, continues: boolean, ...next: readonly Uint8Array[]): Generator<DiffPiece> {
    const memory = this.#memory;
    const first = memory.subarray(0, end).indexOf(gitHeader);
    const isRest = this.#continues;
    const [free = Buffer.from(new SharedArrayBuffer(2 * this.#pieceBytes))] = this.#free;
    this.#free.delete(free);
    this.#memory = free;
    this.#length = 0;
    this.#continues = continues;
    for (const bytes of next) this.#append(bytes);
    const release = (): void => {
      // What grew with one long line is not kept.
      if (memory.length === 2 * this.#pieceBytes) this.#free.add(memory);
    };
    if (first < 0) {
      release();
      return;
    }
    this.foundAny = true;
    yield {
      diff: new Uint8Array(memory.buffer, first + 1, end - first - 1),
      isRest,
      isCut: continues,
      release,
    };
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      const larger = Buffer.from(new SharedArrayBuffer(2 * length));
      larger.set(this.#memory.subarray(0, this.#length));
      this.#memory = larger;
    }
    this.#memory.set(bytes, this.#length);
    this.#length = length;
  }
}

/** What the rest of a section, cut at its end, has to begin with; `undefined` where no hunk is under way. */
function continuationAt(section: Buffer): Continuation | undefined {
  let headerEnd = -1;
  let hunk = { oldLine: 0, oldLeft: 0, newLine: 0, newLeft: 0 };
  for (let at = 0; at < section.length; ) {
    const found = section.indexOf(feed, at);
    const end = found < 0 ? section.length : found;
    const mark = section[at];
    if (hunk.oldLeft <= 0 && hunk.newLeft <= 0) {
      const header = mark === 64 ? readHunkHeader(section, at, end) : undefined;
      if (header) {
        if (headerEnd < 0) headerEnd = at;
        const { oldLine, oldCount, newLine, newCount } = header;
        hunk = { oldLine, oldLeft: oldCount, newLine, newLeft: newCount };
      }
    } else if (mark === 43) {
      hunk.newLine += 1;
      hunk.newLeft -= 1;
    } else if (mark === 45) {
      hunk.oldLine += 1;
      hunk.oldLeft -= 1;
    } else if (mark !== 92) {
      hunk.oldLine += 1;
      hunk.newLine += 1;
      hunk.oldLeft -= 1;
      hunk.newLeft -= 1;
    }
    at = end + 1;
  }
  if (headerEnd < 0 || headerEnd > maxHeaderBytes) return undefined;
  const { oldLine, oldLeft, newLine, newLeft } = hunk;
  const isOpen = oldLeft > 0 || newLeft > 0;
  const rest = `@@ -${oldLine},${Math.max(0, oldLeft)} +${newLine},${Math.max(0, newLeft)} @@\n`;
  return {
    header: section.subarray(0, headerEnd),
    hunk: Buffer.from(isOpen ? rest : ''),
    line: newLine,
  };
}

/** A part of a diff that one worker scans: whole file sections, or one part of a section too long for that. */
export interface DiffPiece {
  readonly diff: Uint8Array<SharedArrayBuffer>;
  /**
   * Every file with a part in `diff`, with its byte range there. Absent if the headers are not read yet
   * (`readFiles`).
   */
  readonly files?: readonly PatchFile[];
  /** It begins with the rest of the file that the piece before ended with. */
  readonly isRest?: boolean;
  /** The file that it ends with goes on in the next piece. */
  readonly isCut?: boolean;
  /** Releases `diff` for reuse; the caller no longer reads it. */
  readonly release?: () => void;
}

/** What could not be scanned, and where. */
export interface Unscanned {
  readonly path: string;
  readonly line?: number;
  readonly reason: string;
}

const blockBytes = 256 * 1024;

/**
 * Reads a file from its start, in blocks that share one memory. Each block is valid until the next one is requested.
 * Read errors are thrown.
 */
export async function* readBlocks(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  await using file = await open(path, 'r');
  const memory = Buffer.allocUnsafeSlow(blockBytes);
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(memory, 0, blockBytes);
    if (bytesRead === 0) return;
    yield memory.subarray(0, bytesRead);
  }
}
