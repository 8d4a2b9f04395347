import t from 'tap';
import type { ModelMessage } from '../../../core/interfaces/model.ts';
import type { Happened } from '../../../session/state/fact.ts';
import { reduce } from '../../../session/state/reduce.ts';
import { restoredState } from '../../../session/state/restored-state.ts';
import { newWorld, take, type World } from './walk.ts';

const turn = (n: number): readonly ModelMessage[] => [
  { role: 'user', text: `question ${n}` },
  { role: 'assistant', text: '', calls: [{ id: `c${n}`, name: 'read_file', arguments: '{}' }] },
  {
    role: 'tool',
    results: [{ callId: `c${n}`, name: 'read_file', text: `${n}`.repeat(5000), isError: false }],
  },
  { role: 'assistant', text: `answer ${n}`, calls: [] },
];

/** A session that talked for six turns, with a command of the person that no model was told of. */
function talked(): World {
  const world = newWorld();
  const facts: readonly Happened[] = [
    ...[1, 2, 3, 4, 5, 6].flatMap(turn).map((message) => ({ type: 'exchanged', message, atMs: 1 }) as const),
    { type: 'ran', id: 'r', text: 'old output', atMs: 1 },
  ];
  return { ...world, state: facts.reduce(reduce, world.state), journal: [...world.journal, ...facts] };
}

const say = (text: string, before = talked()) =>
  take(text, before, { type: 'submit', text, proof: { from: 'local' } });

t.test('`/clear` sends nothing old to the model and keeps the thread', async (t) => {
  const { after, refusal, before } = say('/clear');
  t.equal(refusal, undefined);
  t.strictSame(after.state.dialogue, []);
  t.ok(
    after.state.ran.every(({ isTold }) => isTold),
    'nor what a command printed',
  );
  t.equal(after.state.patchsets, before.state.patchsets);
  t.match(after.state.transcript.at(-1), { title: 'Conversation', content: /starts again/ });
  t.strictSame(restoredState(after.journal).dialogue, [], 'also in the next process');
  const next: Happened = { type: 'exchanged', message: { role: 'user', text: 'new' }, atMs: 2 };
  t.equal(reduce(after.state, next).dialogue.length, 1);
});

t.test('`/compact` shortens old turns and tool results, and leaves the last turn whole', async (t) => {
  const { after } = say('/compact');
  const { dialogue } = after.state;
  t.strictSame(
    dialogue.flatMap((one) => (one.role === 'user' ? [one.text] : [])),
    [3, 4, 5, 6].map((n) => `question ${n}`),
  );
  const results = dialogue.flatMap((one) => (one.role === 'tool' ? one.results : []));
  t.strictSame(
    results.map(({ text }) => text.length > 1000),
    [false, false, false, true],
  );
  t.match(results[0]?.text, /^3{200}\n\[left out: 4800 characters; ask again\]$/);
  t.match(
    after.state.transcript.at(-1)?.content,
    /a model is sent \d+ characters of the conversation, before it were \d+.*\ndropped: “question 1”, “question 2”\nkept: “question 3”/,
  );
  t.strictSame(restoredState(after.journal).dialogue, dialogue, 'also in the next process');
});

const noted = (id: string, runId: string): Happened => ({
  type: 'noted',
  id,
  title: 'Committed',
  text: 'Committed.',
  outcome: { runId, decision: 'commit', why: 'Committed.' },
  atMs: 1,
});

/** The same, where a person said the last two, and each was committed. */
function committed(): World {
  const world = talked();
  const by = { kind: 'tui' } as const;
  const facts: readonly Happened[] = [
    { type: 'said', id: 's5', text: 'question 5', by, atMs: 1 },
    noted('n5', 'run-5'),
    { type: 'said', id: 's6', text: '/ask question 6', by, atMs: 1 },
    noted('n6', 'run-6'),
  ];
  return { ...world, state: facts.reduce(reduce, world.state), journal: [...world.journal, ...facts] };
}

t.test('`/rewind` goes back before the last messages, in talk, files or both', async (t) => {
  const asked = ({ after }: ReturnType<typeof say>) =>
    after.state.dialogue.flatMap((one) => (one.role === 'user' ? [one.text] : []));
  const shown = say('/rewind', committed());
  t.match(
    shown.after.state.transcript.at(-1)?.content,
    /^1 {2}“question 6” \(commits since: 1\) · entry \S+$/m,
  );
  t.match(
    shown.after.state.transcript.at(-1)?.content,
    /^2 {2}“question 5” \(commits since: 2\) · entry \S+$/m,
  );
  t.equal(asked(shown).length, 6, 'a list drops nothing');

  const talk = say('/rewind 2', committed());
  t.strictSame(
    asked(talk),
    [1, 2, 3, 4].map((n) => `question ${n}`),
  );
  t.match(
    talk.after.state.transcript.at(-1)?.content,
    /no longer gets: “question 6”, “question 5”\nits commits stay: `\/undo run-6`, `\/undo run-5`/,
  );
  t.equal(talk.after.state.turn, undefined);
  t.strictSame(
    restoredState(talk.after.journal).dialogue,
    talk.after.state.dialogue,
    'also in the next process',
  );

  const files = say('/rewind 2 files', committed());
  t.equal(asked(files).length, 6);
  t.ok(files.after.state.turn, 'the undo is asked about');
  t.match(files.after.state.transcript.at(-1)?.content, /then `\/undo run-5`/);
  const both = say('/rewind 1 both', committed());
  t.equal(asked(both).length, 5);
  t.ok(both.after.state.turn);

  for (const text of ['/rewind 7', '/rewind 0', '/rewind all', '/rewind 1 files', '/rewind 0abc'])
    t.equal(say(text).refusal, 'UNSUPPORTED_OPERATION', text);
});

t.test('`/clear` and `/compact` wait for the end of a turn, and have no argument', async (t) => {
  const world = newWorld();
  const busy = take('it', world, { type: 'submit', text: '/ask why is it so?', proof: { from: 'local' } });
  t.equal(busy.refusal, undefined);
  for (const text of ['/clear', '/compact', '/rewind']) {
    t.equal(say(text, busy.after).refusal, 'CONTROLLER_CONFLICT', text);
    t.equal(say(`${text} all`).refusal, 'UNSUPPORTED_OPERATION', text);
  }
});
