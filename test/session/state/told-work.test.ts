import t from 'tap';
import type { Fact } from '../../../session/state/fact.ts';
import { reduce } from '../../../session/state/reduce.ts';
import { optionDescription } from '../../../session/state/snapshot.ts';
import type { SessionState } from '../../../session/state/state.ts';
import { newWorld } from './walk.ts';

function after(state: SessionState, ...facts: readonly Fact[]): SessionState {
  return facts.reduce((sofar, fact, at) => reduce(sofar, { ...fact, atMs: 1000 + at }), state);
}

t.test('an announced tool call is a preview until it is complete or its turn ends', async (t) => {
  const { state } = newWorld();
  const began = after(
    state,
    { type: 'turn-began', turn: 'turn' },
    { type: 'announced', id: 'a', toolName: 'apply_patch' },
    { type: 'announced', id: 'b', toolName: 'shell' },
  );
  t.match(began.toolCalls, [
    { id: 'a', toolName: 'apply_patch', status: 'preview' },
    { id: 'b', toolName: 'shell', status: 'preview' },
  ]);
  t.equal(began.status, 'thinking', 'nothing runs yet');
  t.strictSame(began.transcript, state.transcript, 'and nothing was done');
  const whole = after(began, { type: 'announced', id: 'a' });
  t.strictSame(
    whole.toolCalls.map(({ id }) => id),
    ['b'],
  );
  const running: Fact = { type: 'tool', id: 'c', toolName: 'workspace.fs', status: 'running' };
  const ended = after(
    whole,
    running,
    { type: 'announced', id: 'c' },
    { type: 'turn-ended', turn: 'turn', end: 'done' },
  );
  t.match(ended.toolCalls, [{ id: 'c', status: 'running' }], 'what runs is no announcement');
});

const patched = (status: 'proposed' | 'accepted' | 'rejected', diff: string): Fact => ({
  type: 'patched',
  patchset: {
    id: 'p',
    status,
    changes: [
      { path: 'a', changeType: 'modify', diff },
      { path: 'image.png', changeType: 'add' },
    ],
  },
  isWhole: true,
});

t.test('the transcript shows the diff of a run once, cut at a whole line, with its status', async (t) => {
  const { state } = newWorld();
  const diff = '--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n';
  const told = after(state, patched('proposed', diff));
  const shown = told.transcript.at(-1);
  t.match(shown, { kind: 'diff', title: '2 files changed', status: 'proposed', createdAtMs: 1000 });
  t.equal(shown?.content, `${diff}--- add image.png\n`);
  const later = after(told, { type: 'noted', id: 'n', text: 'between' }, patched('accepted', diff));
  t.equal(later.transcript.length, told.transcript.length + 1, 'it is not said twice');
  t.match(later.transcript.at(-2), {
    kind: 'diff',
    status: 'accepted',
    createdAtMs: 1000,
    updatedAtMs: 1001,
  });
  const anew = after(later, { type: 'noted', id: 'm', text: 'more' }, patched('proposed', diff));
  t.match(anew.transcript.slice(-4), [{ status: 'accepted' }, {}, {}, { kind: 'diff', status: 'proposed' }]);
  t.equal(
    new Set(anew.transcript.map(({ id }) => id)).size,
    anew.transcript.length,
    'made again it is told again',
  );
  t.match(after(anew, patched('rejected', diff)).transcript.slice(-4), [
    { status: 'accepted' },
    {},
    {},
    { kind: 'diff', status: 'rejected' },
  ]);
  const long = after(state, patched('accepted', `${diff}${`+${'y'.repeat(99)}\n`.repeat(1000)}`));
  const cut = long.transcript.at(-1);
  t.match(cut, { title: '2 files changed, cut here', metadata: { patchset: 'p', isCut: true } });
  t.match(cut?.content, /\n\+y{99}\n$/);
  t.ok((cut?.content?.length ?? 0) <= 32 * 1024);
  const { isWhole: _, ...one } = patched('proposed', diff) as Extract<Fact, { type: 'patched' }>;
  t.strictSame(after(state, one).transcript, state.transcript, 'one call of many is no change of its own');
});

t.test('an option has a description where its label does not explain it', async (t) => {
  const of = (kind: Parameters<typeof optionDescription>[0]['kind'], option: string, metadata = {}) =>
    optionDescription({ kind, metadata }, option);
  t.match(of('post_plan_choice', 'network', { networkAccess: 'deny' }), /open it$/);
  t.match(of('post_plan_choice', 'network', { networkAccess: 'allow' }), /close it$/);
  t.match(of('intent_review_choice', 'confirm'), /use this spec/);
  t.equal(of('approval', 'approve_ttl', { reuse: { approve_ttl: 'exactly this' } }), 'exactly this');
  t.equal(of('sandbox_approval', 'abort'), 'the call is not made, and the turn stops');
  t.equal(of('approval', 'approve'), undefined);
  t.equal(of('approval', 'approve', { reuse: { approve: 7 } }), undefined, 'what is no text is none');
  t.equal(of('approval', 'approve', { reuse: 'x' }), undefined);
  t.equal(of('approval', 'approve', { reuse: { approve: 'x'.repeat(9000) } })?.length, 400);
  t.equal(of('request_user_input', 'answer'), undefined);
  const plan = { kind: 'post_plan_choice', metadata: {} } as const;
  t.match(optionDescription(plan, 'execute', {}), /is committed$/);
  t.match(optionDescription(plan, 'execute', { review: 'on' }), /waits for your review$/);
});
