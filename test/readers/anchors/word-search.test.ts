import t from 'tap';
import { wordSearch } from '../../../readers/anchors/anchor-search.ts';

t.test('finds a word anywhere and ignores partial words', async (t) => {
  const search = wordSearch(['eval', 'system', 'child_process', '`', 'qx']);
  for (const word of ['eval', 'system', 'child_process', '`', 'qx']) {
    for (let before = 0; before < 9; before += 1) {
      const bytes = Buffer.from(`${'-e'.repeat(5).slice(0, before)}${word}--`);
      t.ok(search.found(bytes), `${word} after ${before}`);
      t.notOk(search.found(bytes, before + 1), `${word} cut at its start`);
      t.notOk(search.found(bytes, 0, before + word.length - 1), `${word} cut at its end`);
    }
  }
  for (const text of ['', 'e', 'eva', 'evaeva syste child_proces', 'q x'])
    t.notOk(search.found(Buffer.from(text)), text);
});

t.test('matches letter case unless folding is enabled', async (t) => {
  t.notOk(wordSearch(['eval']).found(Buffer.from('EVAL')));
  t.ok(wordSearch(['eval'], { fold: true }).found(Buffer.from('x EvAl(')));
});
