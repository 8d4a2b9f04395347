import t from 'tap';
import { createAnchorSearch } from '../../../readers/anchors/anchor-search.ts';
import { randomNumbers } from './random-numbers.ts';

const anchors = ['eval', 'system', 'child_process', '"vm"', 'Function'];
const search = createAnchorSearch(anchors.map((anchor) => [anchor, anchor]));

function placesIn(bytes: Uint8Array, start: number, end: number): readonly string[] {
  const found: string[] = [];
  search.scan(bytes, start, end, (anchor, at) => {
    found.push(`${anchor} ${at}`);
    return false;
  });
  return found;
}

t.test('finds an anchor wherever it lies fully inside the range', async (t) => {
  for (const anchor of anchors) {
    for (let before = 0; before < 9; before += 1) {
      for (let start = 0; start < 3; start += 1) {
        const bytes = Buffer.from(`${'-'.repeat(start + before)}${anchor}--`);
        const at = start + before;
        t.same(placesIn(bytes, start, bytes.length), [`${anchor} ${at}`]);
        t.same(placesIn(bytes, start, at + anchor.length), [`${anchor} ${at}`]);
        t.same(placesIn(bytes, start, at + anchor.length - 1), []);
        t.same(placesIn(bytes, at + 1, bytes.length), []);
      }
    }
  }
});

t.test('finds the same anchors as a plain search in random bytes', async (t) => {
  const random = randomNumbers(7);
  const letters = 'evalsytmchid_pro"FunN-\n';
  for (let round = 0; round < 300; round += 1) {
    const words = Array.from({ length: 40 }, () =>
      random(3) === 0 ? (anchors[random(anchors.length)] ?? '') : (letters[random(letters.length)] ?? ''),
    );
    const bytes = Buffer.from(words.join(''));
    const start = random(4);
    const end = bytes.length - random(4);
    const expected = anchors.flatMap((anchor) => {
      const places: string[] = [];
      for (let at = bytes.indexOf(anchor, start); at >= 0; at = bytes.indexOf(anchor, at + 1))
        if (at + anchor.length <= end) places.push(`${anchor} ${at}`);
      return places;
    });
    t.same([...placesIn(bytes, start, end)].sort(), expected.sort(), words.join(''));
  }
});

t.test('a match callback may start another search', async (t) => {
  const bytes = Buffer.from('eval system Function'.repeat(3));
  const found: string[] = [];
  search.scan(bytes, 0, bytes.length, (anchor, at) => {
    found.push(`${anchor} ${at}`);
    t.equal(placesIn(Buffer.from('-- child_process'), 0, 16).length, 1);
    return false;
  });
  t.same(found, placesIn(bytes, 0, bytes.length));
});
