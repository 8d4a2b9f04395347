import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { userConfigDir } from '../../../attest/keys/user-config-dir.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import { kept, type TranscriptEntry } from '../../../session/state/state.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { openThreadTranscript, type ThreadTranscript } from '../../../session/thread/open-transcript.ts';
import { journalFile } from '../../../store/run-directory.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';
import { parallelTalk } from '../state/parallel-talk.ts';
import { threadPlace } from './said-thread.ts';

/** Everything before an entry, in pages of any size. */
async function allBefore(
  transcript: ThreadTranscript,
  before: number,
  sizeOf: () => number,
): Promise<readonly TranscriptEntry[]> {
  let all: readonly TranscriptEntry[] = [];
  for (let left = before; left > 0; ) {
    const page = await transcript.page({ before: left, limit: sizeOf() });
    all = [...page.entries, ...all];
    left = page.earlier;
  }
  return all;
}

long('the window and the pages before it contain every entry once, in order', async (t) => {
  const random = seededRandom(toldSeed(t));
  const { repository, witness } = threadPlace(t.testdir());
  for (const [round, steps] of [0, 30, 700, 1500, 3000].entries()) {
    const { world, shown } = parallelTalk(random, steps);
    const directory = threadDirectory(repository, `t${round}`);
    await using thread = await openThread(directory, `t${round}`, { clock: systemClock, witness });
    const transcript = openThreadTranscript({ directory, threadId: `t${round}`, witness });
    let from = 0;
    while (from < world.journal.length) {
      const to = from + 1 + Math.floor(random() * 40);
      await thread.append(world.journal.slice(from, to));
      from = to;
      // Whoever asks in the middle reads on from there.
      if (random() < 0.05) await transcript.page({ before: from, limit: 3 });
    }
    const { earlier, transcript: window } = world.state;
    const pages = await allBefore(transcript, earlier, () => 1 + Math.floor(random() * 200));
    const ids = [...pages, ...window].map(({ id }) => id);
    t.equal(pages.length, earlier);
    t.strictSame(ids, shown, `${shown.length} entries, ${earlier} before the window`);
    // The journal has the window, too: what is told of it there is what the session shows.
    const again = await transcript.page({ before: earlier + window.length, limit: kept.transcript });
    const said = (entries: readonly TranscriptEntry[]) => entries.map(({ createdAtMs: _, ...one }) => one);
    t.strictSame(said(again.entries), said(window));
    t.equal(again.earlier, earlier);
  }
});

long('a page is bounded in size but always has at least one entry', async (t) => {
  const { witness, say } = threadPlace(t.testdir());
  const large = 'x'.repeat(3 * 1024 * 1024);
  const directory = await say('a', 1, [2, 'first'], [3, large], [4, large], [5, 'last'], [6, large + large]);
  const { page } = openThreadTranscript({ directory, threadId: 'a', witness });
  const lengths = async (before: number) => {
    const { entries, earlier } = await page({ before, limit: 50 });
    return [earlier, ...entries.map(({ content = '' }) => content.length)];
  };
  t.strictSame(await lengths(5), [4, 2 * large.length]);
  t.strictSame(await lengths(4), [2, large.length, 4]);
  t.strictSame(await lengths(2), [0, 5, large.length]);
  t.strictSame(await lengths(0), [0]);
  t.strictSame(await lengths(99), [4, 2 * large.length], 'no more than there are');
});

t.test('a partial journal line is ignored, and a replaced journal is read again', async (t) => {
  const { witness, say } = threadPlace(t.testdir());
  const directory = await say('a', 1, [2, 'one'], [3, 'two']);
  const { page } = openThreadTranscript({ directory, threadId: 'a', witness });
  const path = join(directory, journalFile);
  const words = async () => (await page({ before: 9, limit: 9 })).entries.map(({ content }) => content);
  t.strictSame(await words(), ['one', 'two']);
  appendFileSync(path, '{"half of a line');
  t.strictSame(await words(), ['one', 'two'], 'what has no end is not read yet');
  truncateSync(path, readFileSync(path).lastIndexOf(10) + 1);
  await say('a', 1, [4, 'three']);
  t.strictSame(await words(), ['one', 'two', 'three']);
  const whole = readFileSync(path);
  renameSync(path, `${path}.old`);
  writeFileSync(path, whole, { mode: 0o600 });
  t.strictSame(await words(), ['one', 'two', 'three'], 'the same in another file');
});

t.test('a replaced journal of the same size is read again', async (t) => {
  const box = t.testdir();
  const { witness, say } = threadPlace(box);
  const directory = await say('a', 1, [2, 'one'], [3, 'three']);
  const { page } = openThreadTranscript({ directory, threadId: 'a', witness });
  const path = join(directory, journalFile);
  const words = async () => (await page({ before: 9, limit: 9 })).entries.map(({ content }) => content);
  t.strictSame(await words(), ['one', 'three']);
  const { size, ino } = statSync(path);
  // As from a backup: the journal, and what is known of it.
  renameSync(path, `${path}.old`);
  rmSync(join(userConfigDir({ HOME: join(box, 'home') }), 'journals'), { recursive: true });
  await say('a', 1, [2, 'three'], [3, 'one']);
  t.equal(statSync(path).size, size);
  t.not(statSync(path).ino, ino);
  t.strictSame(await words(), ['three', 'one']);
});

t.test('a journal that was overwritten after a read is reported as corrupt', async (t) => {
  const { witness, say } = threadPlace(t.testdir());
  const directory = await say('a', 1, [2, 'one'], [3, 'two'], [4, 'three']);
  const { page } = openThreadTranscript({ directory, threadId: 'a', witness });
  const path = join(directory, journalFile);
  const sound = readFileSync(path, 'utf8');
  const ask = () => page({ before: 9, limit: 9 });
  t.equal((await ask()).entries.length, 3);
  writeFileSync(path, sound.replace('"two"', '"TWO"'));
  await t.rejects(ask(), { code: 'JOURNAL_CORRUPT' });
  await t.rejects(ask(), { code: 'JOURNAL_CORRUPT' }, 'nor is it later');
  writeFileSync(path, sound);
  t.equal((await ask()).entries.length, 3, 'sound again, it is read again');
});

t.test('a damaged, cut, forged or missing journal is refused', async (t) => {
  const { repository, witness, say } = threadPlace(t.testdir());
  const directory = await say('a', 1, [2, 'one'], [3, 'two'], [4, 'three']);
  const path = join(directory, journalFile);
  const sound = readFileSync(path, 'utf8');
  const lines = sound.trimEnd().split('\n');
  const asked = (known = openThreadTranscript({ directory, threadId: 'a', witness })) =>
    known.page({ before: 9, limit: 9 });
  const another = openThreadTranscript({ directory, threadId: 'a', witness });
  await asked(another);
  const more = {
    ...JSON.parse(lines[3] ?? ''),
    seq: 5,
    prev: sha256Hex(lines[3] ?? ''),
    mac: '0'.repeat(64),
  };
  const hostile: Readonly<Record<string, readonly [text: string, code: string]>> = {
    'a line was changed': [sound.replace('"two"', '"TWO"'), 'JOURNAL_CORRUPT'],
    'a line is none': [sound.replace(lines[1] ?? '', '[]'), 'JOURNAL_CORRUPT'],
    'a line of somebody else follows on the last one': [
      `${sound}${JSON.stringify(more)}\n`,
      'THREAD_UNPROVEN',
    ],
    'the end was cut off': [`${lines.slice(0, -1).join('\n')}\n`, 'THREAD_UNPROVEN'],
    'nobody vouches for the end': [
      sound.replace(/"mac":"[0-9a-f]{64}"\}\n$/, '"mac":"00"}\n'),
      'THREAD_UNPROVEN',
    ],
  };
  for (const [name, [text, code]] of Object.entries(hostile)) {
    writeFileSync(path, text);
    await t.rejects(asked(), { code }, name);
  }
  writeFileSync(path, sound);
  t.equal((await asked(another)).entries.length, 3, 'sound again, it is read again');
  const none = openThreadTranscript({ directory: threadDirectory(repository, 'b'), threadId: 'b', witness });
  await t.rejects(asked(none), { code: 'THREAD_NOT_FOUND' });
});
