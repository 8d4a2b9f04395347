import t from 'tap';
import type { Fact } from '../../../session/state/fact.ts';
import { undoQuestion } from '../../../session/state/questions.ts';
import { reduce } from '../../../session/state/reduce.ts';
import { afterKill } from '../../../session/state/restored-state.ts';
import { pendingOf } from '../../../session/state/state.ts';
import type { HeldReview } from '../../../session/state/work.ts';
import { newWorld, take, type World } from './walk.ts';

const local = { from: 'local' } as const;
const again = { nowMs: 1, newId: () => 'again' };
const say = (world: World, text: string) => take(text, world, { type: 'submit', text, proof: local });

const review: HeldReview = {
  runId: 'run',
  commit: 'c',
  branch: 'refs/heads/writ/review-run',
  target: { ref: 'refs/heads/main', expected: 'b' },
  plan: 'plan',
  patchset: 'proposed',
  summary: 's',
};
const { commit: _, patchset: __, summary: ___, ...run } = review;

/** What stands once these facts are added. */
function withFacts(world: World, ...facts: readonly Fact[]): World {
  const state = facts.reduce((one, fact) => reduce(one, { ...fact, atMs: world.nowMs }), world.state);
  return { ...world, state };
}

const begun = withFacts(
  newWorld(),
  { type: 'turn-began', turn: 'turn' },
  { type: 'run-began', runId: 'run', held: run },
  { type: 'review-began', review },
);

t.test('a held review that a kill interrupted is put to the user again', async (t) => {
  const killed = withFacts(begun, ...afterKill(begun.state, again));
  t.match(pendingOf(killed.state), [{ id: 'again', kind: 'request_user_input', subject: 'held run' }]);
  t.equal(killed.state.turn, 'turn', 'the turn waits on');
  t.strictSame(afterKill(killed.state, again), [], 'what waits is not asked twice');
  const stopped = withFacts(begun, { type: 'cancel-asked' });
  t.match(withFacts(stopped, ...afterKill(stopped.state, again)).state, { turn: undefined, held: review });
});

t.test('the answers to a held change depend on the verdicts on its hunks', async (t) => {
  const asked = withFacts(begun, ...afterKill(begun.state, again));
  const answer = (world: World, choice: string) =>
    take(choice, world, {
      type: 'respond',
      id: 'again',
      given: { answers: { review: [choice] } },
      proof: local,
    });
  const rejected = take('reject', asked, {
    type: 'review',
    patchset: 'proposed',
    path: 'x',
    hunk: 'h',
    verdict: 'reject',
    proof: local,
  }).after;
  const codes = (world: World) => ['keep', 'take-out', 'discard'].map((one) => answer(world, one).refusal);
  const wrong = 'INVALID_INTERACTION_RESPONSE';
  t.strictSame(codes(asked), [undefined, wrong, undefined], 'there is nothing to take out');
  t.strictSame(codes(rejected), [wrong, undefined, undefined], 'what is rejected is not kept');
  const reads = withFacts(asked, { type: 'set', settings: { context: 'review', networkAccess: 'deny' } });
  t.strictSame(codes(reads), ['UNSUPPORTED_OPERATION', 'UNSUPPORTED_OPERATION', undefined]);
});

t.test('a comment stays with its verdict until the verdict changes', async (t) => {
  const asked = withFacts(begun, ...afterKill(begun.state, again));
  const hunk = { type: 'review', patchset: 'proposed', path: 'x', hunk: 'h', proof: local } as const;
  const rejected = take('1', asked, { ...hunk, verdict: 'reject', comment: 'nobody asked for it' }).after;
  const comment = (world: World) => world.state.reviews.map((one) => one.comment);
  t.strictSame(comment(take('2', rejected, { ...hunk, verdict: 'reject' }).after), ['nobody asked for it']);
  t.strictSame(comment(take('2', rejected, { ...hunk, verdict: 'keep' }).after), [undefined]);
  const noted = take('2', rejected, { ...hunk, verdict: 'keep', comment: 'well' }).after;
  t.strictSame(comment(noted), ['well']);
  t.strictSame(comment(take('3', noted, { ...hunk, verdict: 'keep' }).after), ['well'], 'kept as before');
});

t.test('a session with a held change accepts only questions and `/review`', async (t) => {
  const idle = withFacts(begun, { type: 'turn-ended', turn: 'turn', end: 'cancelled' });
  t.equal(say(idle, 'make it faster').refusal, 'UNSUPPORTED_OPERATION');
  t.equal(say(idle, '/goal start fast').refusal, 'UNSUPPORTED_OPERATION');
  t.equal(say(idle, '/ask how fast?').refusal, undefined);
  t.match(say(idle, '/review').wants, [{ type: 'turn', spoken: { kind: 'review' } }]);
  t.equal(say(begun, '/review').refusal, 'CONTROLLER_CONFLICT', 'its turn still works');
  const over = withFacts(idle, { type: 'review-ended', end: 'kept' });
  t.equal(say(over, '/review').refusal, 'UNSUPPORTED_OPERATION');
  t.equal(say(over, 'make it faster').refusal, undefined);
});

t.test('`/undo` is refused in a read-only context and for other runs while a change is held', async (t) => {
  t.match(say(newWorld(), '/undo').wants, [{ type: 'turn', spoken: { kind: 'undo', text: '' } }]);
  t.equal(say(say(newWorld(), '/context review').after, '/undo').refusal, 'UNSUPPORTED_OPERATION');
  const idle = withFacts(begun, { type: 'turn-ended', turn: 'turn', end: 'cancelled' });
  t.equal(say(begun, '/undo').refusal, 'CONTROLLER_CONFLICT');
  t.equal(say(idle, '/undo 0196').refusal, 'UNSUPPORTED_OPERATION', 'another run');
  t.equal(say(idle, '/undo').refusal, undefined, 'the one that is held');
  const asked = withFacts(
    newWorld(),
    { type: 'turn-began', turn: 'turn' },
    {
      type: 'asked',
      interaction: {
        ...undoQuestion({ runId: 'run', commit: 'c', summary: 's', files: [] }),
        id: 'i',
        status: 'pending',
        requestedAtMs: 0,
      },
    },
    { type: 'set', settings: { context: 'review', networkAccess: 'deny' } },
  );
  const answer = (choice: string) =>
    take(choice, asked, { type: 'respond', id: 'i', given: { answers: { undo: [choice] } }, proof: local });
  t.equal(answer('undo').refusal, 'UNSUPPORTED_OPERATION');
  t.equal(answer('leave').refusal, undefined);
});

t.test('`/review on` conflicts with goals, and the setting survives a change of context', async (t) => {
  const on = say(newWorld(), '/review on');
  t.match(on.facts, [{ type: 'said' }, { type: 'set', settings: { review: 'on' } }, { type: 'noted' }]);
  t.equal(say(on.after, '/goal start fast').refusal, 'UNSUPPORTED_OPERATION', 'a goal goes on by itself');
  t.notOk('review' in say(on.after, '/review off').after.state.settings);
  const kept = say(say(on.after, '/context review').after, '/context dev').after;
  t.equal(kept.state.settings.review, 'on', 'other settings leave it');
  const goal = say(newWorld(), '/goal start fast').after;
  t.equal(say(goal, '/review on').refusal, 'UNSUPPORTED_OPERATION');
});
