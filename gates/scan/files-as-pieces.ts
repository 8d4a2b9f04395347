/* Presents whole files as additions, so that a scan can read them. */
import { open } from 'node:fs/promises';
import type { FileSides } from '../../core/interfaces/rule.ts';
import { toBinaryPatch } from '../../readers/diff/binary-sides.ts';
import { quotePath } from '../../readers/diff/read-sections.ts';
import { cutDiff, type DiffPiece, type Unscanned } from './cut-diff.ts';

/** One file to scan: its name in findings, and its location. */
export interface FileToScan {
  /** Relative, POSIX. */
  readonly path: string;
  readonly absolute: string;
}

/** A file of which every line counts as added; with its content where it is small enough to be parsed whole. */
export interface FilePiece extends DiffPiece {
  readonly sides: Readonly<Record<string, FileSides>>;
}

const maxWholeBytes = 2 * 1024 * 1024;
const blockBytes = 1024 * 1024;

/**
 * Yields files as additions, in bounded memory: small ones whole, large ones cut between lines. Unreadable parts are
 * reported.
 */
export async function* filesAsPieces(
  files: Iterable<FileToScan>,
  onUnscanned: (unscanned: Unscanned) => void,
): AsyncGenerator<FilePiece> {
  for (const file of files) {
    try {
      yield* pieces(file, onUnscanned);
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException;
      if (code === undefined) throw fault;
      onUnscanned({ path: file.path, reason: `it cannot be read (${code})` });
    }
  }
}

async function* pieces(
  { path, absolute }: FileToScan,
  onUnscanned: (unscanned: Unscanned) => void,
): AsyncGenerator<FilePiece> {
  await using handle = await open(absolute, 'r');
  const { size } = await handle.stat();
  if (size === 0) return;
  const isWhole = size <= maxWholeBytes;
  const content = isWhole ? await handle.readFile() : undefined;
  const isBinary = content?.subarray(0, 8000).includes(0) === true;
  const blocks = content
    ? [content]
    : handle.createReadStream({ highWaterMark: blockBytes, autoClose: false });
  const added = quotePath(`b/${path}`);
  const header = `diff --git ${quotePath(`a/${path}`)} ${added}\nnew file mode 100644\n`;
  async function* source(): AsyncGenerator<Uint8Array> {
    if (content && isBinary) yield Buffer.concat([Buffer.from(header), toBinaryPatch(content)]);
    else {
      yield Buffer.from(`${header}--- /dev/null\n+++ ${added}\n@@ -0,0 +1,${2 ** 40} @@\n`);
      yield* asAdded(blocks);
    }
  }
  const sides = content ? { [path]: { candidate: content } } : {};
  // The one hunk of a file never ends before the file does.
  for await (const piece of cutDiff(source(), { onUnscanned })) yield { ...piece, isCut: true, sides };
}

/** Every line with a `+` before it. */
async function* asAdded(
  blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isLineStart = true;
  for await (const block of blocks) {
    const parts: Uint8Array[] = [];
    for (let at = 0; at < block.length; ) {
      const feed = block.indexOf(10, at);
      const end = feed < 0 ? block.length : feed + 1;
      if (isLineStart) parts.push(plusSign);
      parts.push(block.subarray(at, end));
      isLineStart = feed >= 0;
      at = end;
    }
    yield Buffer.concat(parts);
  }
  if (!isLineStart) yield Buffer.from('\n');
}

const plusSign = Buffer.from('+');
