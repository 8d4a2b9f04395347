import t from 'tap';
import { piecesHeader, readInPieces } from '../../../../plugins/third-party/process/inside/read-in-pieces.ts';

async function piecesOf({ body }: Response): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of body ?? []) pieces.push(Buffer.from(piece).toString('latin1'));
  return pieces;
}

t.test('a body that arrives whole is read in the stated pieces, and the rest as one', async (t) => {
  const response = readInPieces(new Response('abcdef', { headers: { [piecesHeader]: '1,2' } }));
  t.same(await piecesOf(response), ['a', 'bc', 'def']);
});

t.test('a body is read whole by its text, and without the header as it arrives', async (t) => {
  t.equal(await readInPieces(new Response('abc', { headers: { [piecesHeader]: '1,2' } })).text(), 'abc');
  t.same(await piecesOf(readInPieces(new Response('abc'))), ['abc']);
  t.equal(readInPieces(new Response(null, { headers: { [piecesHeader]: '1' } })).body, null);
});
