import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { readThread } from '../../../session/thread/read-thread.ts';
import { formatJournal } from '../../../store/journal-witness.ts';
import { ground } from '../state/walk.ts';
import { threadPlace } from './said-thread.ts';

t.test('a thread can be read while it is written, and the read creates no files', async (t) => {
  const box = t.testdir();
  const { repository, witness, say } = threadPlace(box);
  const directory = await say('a', 10, [11, 'hello'], [12, 'more']);
  await using _writer = await openThread(directory, 'a', { clock: systemClock, witness });
  const before = readdirSync(box, { recursive: true }).length;
  const { transcript, proven } = await readThread(directory, 'a', witness);
  t.strictSame(
    transcript.map(({ content }) => content),
    ['hello', 'more'],
  );
  t.equal(proven?.state.status, 'idle');
  t.equal(proven?.facts.length, 7);
  await t.rejects(readThread(threadDirectory(repository, 'b'), 'b', witness), {
    code: 'THREAD_NOT_FOUND',
    exitCode: 1,
    detail: { thread_id: 'b' },
  });
  t.equal(readdirSync(box, { recursive: true }).length, before);
});

t.test('an unproven thread yields its text without status, and cannot be opened for writing', async (t) => {
  const { repository, witness } = threadPlace(t.testdir());
  const directory = threadDirectory(repository, 'a');
  mkdirSync(directory, { recursive: true });
  const by = { kind: 'tui' };
  const hostile = [
    { type: 'opened', ground: ground({ threadId: 'a' }), atMs: 1 },
    { type: 'said', id: '1', text: 'do it', by, atMs: 2 },
    { type: 'said', id: '2', text: { not: 'text' }, by, atMs: 3 },
    { type: 'said', id: '3', text: 'no time', by, atMs: 1e300 },
    { type: 'asked', interaction: { id: 'q', kind: 'approval', status: 'pending', metadata: {} }, atMs: 4 },
    { type: 'tool', id: '4', toolName: 'rm', status: 'running', atMs: 5 },
    { type: 'tool', id: '4', toolName: 'rm', status: 'completed', summary: 'fine', atMs: 6 },
    { type: 'replied', id: '5', text: 'done', atMs: 7 },
    null,
    7,
    { type: '__proto__', atMs: 8 },
  ];
  const records = [
    { at: 'x', type: 'facts', data: hostile },
    { at: 'x', type: 'facts', data: { length: 1e9 } },
    { at: 'x', type: 'other', data: hostile },
  ];
  writeFileSync(join(directory, 'journal.jsonl'), formatJournal(records).bytes);
  const reading = await readThread(directory, 'a', witness);
  t.equal(reading.proven, undefined);
  t.strictSame(
    reading.transcript.map(({ kind, content, title, status }) => [kind, content ?? title, status]),
    [
      ['user_message', 'do it', undefined],
      ['tool_call', 'rm', undefined],
      ['assistant_message', 'done', undefined],
    ],
  );
  await t.rejects(openThread(directory, 'a', { clock: systemClock, witness }), { code: 'THREAD_UNPROVEN' });
});

t.test('a thread is unproven for another user and after its journal was cut', async (t) => {
  const box = t.testdir();
  const { witness, say } = threadPlace(box);
  const directory = await say('a', 10, [11, 'hello'], [12, 'more']);
  const journal = join(directory, 'journal.jsonl');
  const whole = readFileSync(journal, 'utf8');
  const other = userJournalWitness({ HOME: join(box, 'other-home') });
  t.match(await readThread(directory, 'a', other), { proven: undefined, transcript: { length: 2 } });
  writeFileSync(journal, whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) + 1));
  t.match(await readThread(directory, 'a', witness), { proven: undefined, transcript: { length: 1 } });
  writeFileSync(journal, whole.replace('hello', 'hullo'));
  await t.rejects(readThread(directory, 'a', witness), { code: 'JOURNAL_CORRUPT' });
  writeFileSync(journal, whole);
  appendFileSync(journal, '{"half');
  t.ok((await readThread(directory, 'a', witness)).proven, 'half a last line never counted');
});

t.test('a link or pipe in place of a thread, its lock or its journal is not followed', async (t) => {
  const box = t.testdir();
  const { witness, say } = threadPlace(box);
  const directory = await say('a', 10, [11, 'hello']);
  writeFileSync(join(directory, 'lock'), '');
  const aside = join(box, 'aside');
  const pipe = join(box, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const [name, target] of [
    ['', aside],
    ['journal.jsonl', aside],
    ['journal.jsonl', pipe],
    ['lock', aside],
    ['..', aside],
  ] as const) {
    const place = join(directory, name);
    renameSync(place, aside);
    if (target === pipe) renameSync(pipe, place);
    else symlinkSync(target, place);
    const what = `${target === pipe ? 'a pipe' : 'a link'} as ${name}`;
    await t.rejects(
      openThread(directory, 'a', { clock: systemClock, witness }),
      { code: 'OBJECT_CORRUPT' },
      what,
    );
    if (name === '' || name === 'journal.jsonl')
      await t.rejects(readThread(directory, 'a', witness), { code: 'OBJECT_CORRUPT' }, what);
    if (target === pipe) renameSync(place, pipe);
    else rmSync(place);
    renameSync(aside, place);
  }
  t.ok((await readThread(directory, 'a', witness)).proven);
});
