import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openThread } from '../../../session/thread/open-thread.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { isLong, long } from '../../rooms/long.ts';
import { killThreads } from './kill-threads.ts';

t.setTimeout(240_000);

/** `npm run test:kill-sessions` has 500 of them. */
const rounds = isLong ? 20 : 6;

long('a thread killed at any instant keeps every acknowledged message in order', async (t) => {
  const { complaints, said, effects, answered } = await killThreads(
    t.testdir(),
    rounds,
    seededRandom(toldSeed(t)),
  );
  t.strictSame(complaints, []);
  t.ok(said > 5 && effects > 5, `${said} said, ${effects} effects, ${answered} answered`);
});

t.test('a thread that was cut, changed or written by another user is not resumed', async (t) => {
  const means = { clock: systemClock, witness: userJournalWitness({ HOME: join(t.testdir(), 'home') }) };
  const directory = join(t.testdirName, 'thread');
  const journal = join(directory, 'journal.jsonl');
  const open = () => openThread(directory, 't', means);
  const first = await open();
  for (const text of ['a', 'b', 'c'])
    await first.append([{ type: 'said', id: text, text, by: { kind: 'tui' }, atMs: 1 }]);
  await t.rejects(open(), { code: 'THREAD_BUSY' });
  await first[Symbol.asyncDispose]();
  const whole = readFileSync(journal, 'utf8');
  const lines = whole.split('\n');
  const others: readonly (readonly [string, () => void])[] = [
    ['cut by a line', () => truncateSync(journal, whole.lastIndexOf('\n', whole.length - 2) + 1)],
    ['changed', () => writeFileSync(journal, whole.replace('"text":"b"', '"text":"x"'))],
    ['longer by a line of its own kind', () => appendFileSync(journal, `${lines[0]}\n`)],
    ['empty', () => truncateSync(journal, 0)],
  ];
  for (const [how, change] of others) {
    change();
    const came = await open().then(
      () => 'opened',
      (fault: { readonly code?: string }) => fault.code,
    );
    t.ok(came === 'THREAD_UNPROVEN' || came === 'JOURNAL_CORRUPT', `${how}: ${came}`);
    writeFileSync(journal, whole);
  }
  const stranger = { ...means, witness: userJournalWitness({ HOME: join(t.testdirName, 'other-home') }) };
  await t.rejects(openThread(directory, 't', stranger), { code: 'THREAD_UNPROVEN' });
  await using again = await open();
  t.equal(again.facts.length, 3, 'and a refusal has changed nothing');
});

t.test('a refused thread is left unchanged, and an older journal in its place is refused', async (t) => {
  const means = { clock: systemClock, witness: userJournalWitness({ HOME: join(t.testdir(), 'home') }) };
  const directory = join(t.testdirName, 'thread');
  const journal = join(directory, 'journal.jsonl');
  const open = () => openThread(directory, 't', means);
  {
    await using first = await open();
    for (const text of ['a', 'b', 'c'])
      await first.append([{ type: 'said', id: text, text, by: { kind: 'tui' }, atMs: 1 }]);
  }
  const whole = readFileSync(journal, 'utf8');
  const older = whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) + 1);
  for (const [how, left] of [
    ['emptied', ''],
    ['without the end of its last line', whole.slice(0, -1)],
    ['cut within its last line', whole.slice(0, -20)],
    ['without the end of any line', whole.replaceAll('\n', '\r')],
  ] as const) {
    writeFileSync(journal, left);
    await t.rejects(open(), { code: 'THREAD_UNPROVEN' }, how);
    t.equal(readFileSync(journal, 'utf8'), left, `${how}: nothing is taken away`);
    await t.rejects(open(), { code: 'THREAD_UNPROVEN' }, `${how}, a second time`);
    writeFileSync(journal, older);
    await t.rejects(open(), { code: 'THREAD_UNPROVEN' }, `an older one after one ${how}`);
  }
  writeFileSync(journal, whole);
  await using again = await open();
  t.equal(again.facts.length, 3);
});
