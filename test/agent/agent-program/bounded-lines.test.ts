import t from 'tap';
import { boundedLines, type LineBounds } from '../../../agent/agent-program/web-socket.ts';

const wide: LineBounds = { maxLineBytes: 100, maxLines: 100, maxBytes: 1000 };

async function linesOf(
  pieces: readonly string[],
  bounds: Partial<LineBounds> = {},
): Promise<readonly string[]> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
  };
  const lines: string[] = [];
  const tooMuch = (found: string): Error => new Error(found);
  for await (const line of boundedLines(chunks(), { ...wide, ...bounds }, tooMuch)) lines.push(line);
  return lines;
}

t.test('lines are reassembled from any chunks, and an unterminated last line is dropped', async (t) => {
  t.same(await linesOf(['a\nb', 'c', '\n\nd\n', 'e']), ['a', 'bc', '', 'd']);
  t.same(await linesOf([...'ä🌍\nx\n']), ['ä🌍', 'x']);
  t.same(await linesOf([]), []);
});

t.test('a flood of output stops at the bound of line length, line count or bytes', async (t) => {
  t.same(await linesOf(['aaaaa\n'], { maxLineBytes: 5 }), ['aaaaa']);
  await t.rejects(linesOf(['aaaaaa\n'], { maxLineBytes: 5 }), { message: 'a line of more than 5 octets' });
  await t.rejects(linesOf(['aaa', 'aaa'], { maxLineBytes: 5 }), { message: 'a line of more than 5 octets' });
  await t.rejects(linesOf(['a\nb\nc\n'], { maxLines: 2 }), { message: 'more than 2 lines' });
  await t.rejects(linesOf(['a\n', 'b\n'], { maxBytes: 3 }), { message: 'more than 3 octets' });
});
