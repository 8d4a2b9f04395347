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

t.test('`/clear` and `/compact` wait for the end of a turn, and have no argument', async (t) => {
  const world = newWorld();
  const busy = take('it', world, { type: 'submit', text: '/ask why is it so?', proof: { from: 'local' } });
  t.equal(busy.refusal, undefined);
  for (const text of ['/clear', '/compact']) {
    t.equal(say(text, busy.after).refusal, 'CONTROLLER_CONFLICT', text);
    t.equal(say(`${text} all`).refusal, 'UNSUPPORTED_OPERATION', text);
  }
});
