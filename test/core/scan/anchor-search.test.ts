import t from 'tap';
import { createAnchorSearch } from '../../../core/scan/anchor-search.ts';
import { countAdded } from '../../../core/scan/count-added.ts';

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

t.test('an anchor is found wherever it stands whole in the range, and nowhere else', async (t) => {
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

t.test('added lines are counted by the hunk, at any offset', async (t) => {
  const diff =
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n+++ b\n-c\n+\n\\ No newline at end of file\n';
  for (let before = 0; before < 5; before += 1) {
    const bytes = Buffer.from(`${'\n'.repeat(before)}${diff}+not in a hunk`);
    const copy = new Uint8Array(bytes);
    t.equal(countAdded(copy, [{ start: before, end: copy.length, binary: false }]), 2);
  }
});
