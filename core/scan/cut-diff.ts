import { WritError } from '../base/errors.ts';
import type { DiffPiece, Unscanned } from './diff-piece.ts';
import { readFileHeader } from './read-file-header.ts';

export interface CutOptions {
  /** Bytes of one piece, about; a longer line makes a longer piece. */
  readonly pieceBytes?: number;
  /** Longer lines are left out and told of. */
  readonly maxLineBytes?: number;
  readonly onUnscanned: (unscanned: Unscanned) => void;
}

const feed = 10;
const gitHeader = Buffer.from('\ndiff --git ');
const maxHeaderBytes = 64 * 1024;
const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Cuts a git diff of any size into pieces, in bounded memory: at file headers where it can, else between two lines of a hunk, whose rest
 * then stands under a hunk header of its own. What comes before the first header is prose. Nothing gives nothing; PATCH_MALFORMED for text
 * without any header.
 */
export async function* cutDiff(
  source: AsyncIterable<Uint8Array>,
  { pieceBytes = 2 * 1024 * 1024, maxLineBytes = 16 * 1024 * 1024, onUnscanned }: CutOptions,
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
  /** Begins with `\n`, so that every header is found by the same bytes. */
  #pending = Buffer.from('\n');
  readonly #chunks: Uint8Array[] = [];
  #chunkBytes = 0;
  /** The line under way is longer than allowed: its bytes are dropped until it ends. */
  #dropping = false;

  constructor(pieceBytes: number, maxLineBytes: number, onUnscanned: CutOptions['onUnscanned']) {
    this.#pieceBytes = pieceBytes;
    this.#maxLineBytes = maxLineBytes;
    this.#onUnscanned = onUnscanned;
  }

  add(chunk: Uint8Array): void {
    if (chunk.length > 0) this.isEmpty = false;
    if (!this.#dropping) {
      this.#chunks.push(chunk);
      this.#chunkBytes += chunk.length;
      return;
    }
    const end = chunk.indexOf(feed);
    if (end < 0) return;
    this.#dropping = false;
    this.add(chunk.subarray(end));
  }

  *take(isEnd: boolean): Generator<DiffPiece> {
    if (!isEnd && this.#chunkBytes + this.#pending.length <= this.#pieceBytes) return;
    this.#pending = Buffer.concat([this.#pending, ...this.#chunks]);
    this.#chunks.length = 0;
    this.#chunkBytes = 0;
    // What stands before the last header is whole.
    const cut = isEnd ? this.#pending.length : this.#pending.lastIndexOf(gitHeader);
    if (cut > 0) {
      yield* this.#emit(this.#pending.subarray(0, cut));
      this.#pending = this.#pending.subarray(cut);
    } else yield* this.#cutInside();
  }

  /** One section longer than a piece: cuts it behind its last whole line, once there is one in a hunk. */
  *#cutInside(): Generator<DiffPiece> {
    const first = this.#pending.indexOf(gitHeader);
    const lastFeed = this.#pending.lastIndexOf(feed);
    if (first < 0) {
      // Prose before the first header: only a header's beginning can matter.
      this.#pending = this.#pending.subarray(Math.max(0, lastFeed));
      if (this.#pending.length > this.#maxLineBytes) {
        this.#pending = Buffer.from('\n');
        this.#dropping = true;
      }
      return;
    }
    const tail = this.#pending.length - lastFeed - 1;
    const continuation =
      lastFeed > first ? continuationAt(this.#pending.subarray(first + 1, lastFeed + 1)) : undefined;
    if (tail > this.#maxLineBytes) {
      const { path } = readFileHeader(this.#pending.subarray(first + 1));
      const reason = `a line is longer than ${this.#maxLineBytes} bytes`;
      this.#onUnscanned({ path, ...(continuation ? { line: continuation.line } : {}), reason });
      // Its mark stays, so that the lines behind it keep their numbers.
      this.#pending = this.#pending.subarray(0, lastFeed + 2);
      this.#dropping = true;
    }
    if (continuation === undefined) return;
    const rest = this.#pending.subarray(lastFeed + 1);
    yield* this.#emit(this.#pending.subarray(0, lastFeed));
    this.#pending = Buffer.concat([Buffer.from('\n'), continuation.header, continuation.hunk, rest]);
  }

  *#emit(bytes: Buffer): Generator<DiffPiece> {
    const starts: number[] = [];
    for (let at = bytes.indexOf(gitHeader); at >= 0; at = bytes.indexOf(gitHeader, at + 1))
      starts.push(at + 1);
    const [first] = starts;
    if (first === undefined) return;
    this.foundAny = true;
    const diff = new Uint8Array(new SharedArrayBuffer(bytes.length - first));
    diff.set(bytes.subarray(first));
    const files = starts.map((start, index) => {
      const end = starts[index + 1] ?? bytes.length;
      return { ...readFileHeader(bytes.subarray(start, end)), start: start - first, end: end - first };
    });
    yield { diff, files };
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
      const header =
        mark === 64 ? hunkHeader.exec(section.toString('latin1', at, Math.min(end, at + 80))) : null;
      if (header) {
        if (headerEnd < 0) headerEnd = at;
        hunk = {
          oldLine: Number(header[1]),
          oldLeft: Number(header[2] ?? 1),
          newLine: Number(header[3]),
          newLeft: Number(header[4] ?? 1),
        };
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
