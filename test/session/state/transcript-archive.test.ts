import t from 'tap';
import type { Happened } from '../../../session/state/fact.ts';
import { reduce } from '../../../session/state/reduce.ts';
import {
  openTranscriptArchive,
  restoredState,
  type TranscriptArchive,
} from '../../../session/state/restored-state.ts';
import type { TranscriptEntry } from '../../../session/state/state.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { parallelTalk } from './parallel-talk.ts';

/** Everything before an entry, in pages of any size. */
async function allBefore(
  { page }: Pick<TranscriptArchive, 'page'>,
  before: number,
  sizeOf: () => number,
): Promise<readonly TranscriptEntry[]> {
  let all: readonly TranscriptEntry[] = [];
  for (let left = before; left > 0; ) {
    const { entries, earlier } = await page({ before: left, limit: sizeOf() });
    all = [...entries, ...all];
    left = earlier;
  }
  return all;
}

t.test('the window and the pages before it contain every entry once, in order', async (t) => {
  const random = seededRandom(toldSeed(t));
  for (const steps of [0, 30, 700, 1500, 3000]) {
    const { world, shown } = parallelTalk(random, steps);
    const { journal } = world;
    // Another process goes on with the thread somewhere in the middle.
    const opened = 1 + Math.floor(random() * (journal.length - 1));
    const archive = openTranscriptArchive();
    let state = restoredState(journal.slice(0, opened), archive.add);
    for (let from = opened; from < journal.length; ) {
      const facts: readonly Happened[] = journal.slice(from, from + 1 + Math.floor(random() * 40));
      const after = facts.reduce(reduce, state);
      archive.follow(state, after, facts);
      state = after;
      from += facts.length;
    }
    const { earlier, transcript: window } = state;
    const pages = await allBefore(archive, earlier, () => 1 + Math.floor(random() * 200));
    t.equal(pages.length, earlier);
    t.notOk(pages.some(({ streaming }) => streaming));
    const ids = [...pages, ...window].map(({ id }) => id);
    t.strictSame(ids, shown, `${shown.length} entries, ${earlier} before the window`);
  }
});

t.test('a page is bounded in size but always has at least one entry', async (t) => {
  const archive = openTranscriptArchive();
  const large = 'x'.repeat(3 * 1024 * 1024);
  for (const [at, content] of ['first', large, large, 'last', large + large].entries())
    archive.add({
      id: `${at}`,
      kind: 'user_message',
      content,
      streaming: false,
      metadata: {},
      createdAtMs: at,
      updatedAtMs: at,
    });
  const lengths = async (before: number) => {
    const { entries, earlier } = await archive.page({ before, limit: 50 });
    return [earlier, ...entries.map(({ content = '' }) => content.length)];
  };
  t.strictSame(await lengths(5), [4, 2 * large.length]);
  t.strictSame(await lengths(4), [2, large.length, 4]);
  t.strictSame(await lengths(2), [0, 5, large.length]);
  t.strictSame(await lengths(0), [0]);
  t.strictSame(await lengths(99), [4, 2 * large.length], 'no more than there are');
});
