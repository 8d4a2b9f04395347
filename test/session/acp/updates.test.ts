import t from 'tap';
import { diffsOf, fenced, openUpdates } from '../../../session/acp/updates.ts';
import type { Fact } from '../../../session/state/fact.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import type { SessionState } from '../../../session/state/state.ts';
import { ground } from '../state/walk.ts';

const root = '/place/repo';

/** A session that goes on fact by fact, and what an editor is sent of each. */
function following() {
  let state: SessionState = openedState({ type: 'opened', ground: ground(), atMs: 1 });
  const updates = openUpdates(root);
  updates.skip(state);
  return {
    updates,
    state: () => state,
    after(...facts: readonly Fact[]) {
      state = facts.reduce((sofar, fact) => reduce(sofar, { ...fact, atMs: 2 }), state);
      return updates.next(state);
    },
  };
}

const textsOf = (sent: ReturnType<ReturnType<typeof openUpdates>['next']>) =>
  sent.flatMap((one) => ('content' in one && one.content && 'text' in one.content ? [one.content.text] : []));

t.test('a reply is sent piece by piece, and as another message where it begins again', async (t) => {
  const { after } = following();
  t.strictSame(textsOf(after({ type: 'replying', id: 'r', text: 'One ' })), ['One ']);
  t.strictSame(textsOf(after({ type: 'replying', id: 'r', text: 'two.' })), ['two.']);
  t.strictSame(textsOf(after({ type: 'replied', id: 'r', text: 'One two.' })), []);
  t.strictSame(textsOf(after({ type: 'replying', id: 's', text: 'Broke' })), ['\n\nBroke']);
  t.strictSame(textsOf(after({ type: 'replying', id: 's', text: 'Again', isAnew: true })), ['\n\nAgain']);
});

t.test('what begins behind a reply that streams waits for its end', async (t) => {
  const { after } = following();
  after({ type: 'replying', id: 'r', text: 'One' });
  t.strictSame(after({ type: 'noted', id: 'n', text: 'a note' }), []);
  t.strictSame(textsOf(after({ type: 'replying', id: 'r', text: ' two' })), [' two']);
  t.strictSame(textsOf(after({ type: 'replied', id: 'r', text: 'One two' })), ['\n\na note']);
});

t.test('a tool call has kind, place and status, and is sent once in each form', async (t) => {
  const { after } = following();
  const call = { type: 'tool', id: 'c', toolName: 'workspace.fs' } as const;
  t.strictSame(after({ ...call, status: 'preview', summary: 'read src/a.js' }), []);
  t.match(after({ ...call, status: 'running', summary: 'read src/a.js' }), [
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'c',
      title: 'read src/a.js',
      kind: 'read',
      status: 'in_progress',
      locations: [{ path: '/place/repo/src/a.js' }],
    },
  ]);
  t.match(after({ ...call, status: 'completed', summary: 'read src/a.js (done, 4 ms)' }), [
    { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed' },
  ]);
  t.strictSame(
    after({ type: 'noted', id: 'n', text: '' }).filter(
      ({ sessionUpdate }) => sessionUpdate !== 'agent_message_chunk',
    ),
    [],
  );
  const failing = { type: 'tool', id: 'd', toolName: 'workspace.command', status: 'completed' } as const;
  t.match(after({ ...failing, summary: 'execute npm test (done, exit code 1, 4 ms)', details: '1 failed' }), [
    { title: '$ npm test (exit code 1)', kind: 'execute', status: 'failed', content: [{ type: 'content' }] },
  ]);
  const outside = { type: 'tool', id: 'e', toolName: 'workspace.fs', status: 'completed' } as const;
  const [denied] = after({ ...outside, summary: 'read ../x (denied, 1 ms)' });
  t.strictSame(denied && 'locations' in denied && denied.locations, []);
});

t.test('a plan, a change of mode and a commit reach the editor', async (t) => {
  const { after, state } = following();
  const plan = {
    id: 'p',
    title: 'Exact',
    status: 'running',
    steps: [{ id: '1', step: 'take it away', status: 'in_progress' }],
  } as const;
  t.match(after({ type: 'planned', plan }), [
    { sessionUpdate: 'plan', entries: [{ content: 'take it away', status: 'in_progress' }] },
  ]);
  t.match(after({ type: 'planned', plan: { ...plan, status: 'cancelled' } }), [
    { sessionUpdate: 'plan', entries: [] },
  ]);
  t.match(after({ type: 'set', settings: { ...state().settings, context: 'review' } }), [
    { sessionUpdate: 'current_mode_update', currentModeId: 'review' },
  ]);
  const outcome = { runId: 'run', decision: 'commit', why: 'all passed', commit: 'c0ffee' } as const;
  t.strictSame(textsOf(after({ type: 'noted', id: 'o', text: 'x', outcome })), [
    '**Committed**: all passed\n- commit `c0ffee`\n- `writ verify run`: verify the seal, offline\n- `writ show run`: what was checked, found and decided',
  ]);
});

t.test('a thread is replayed with the words of its person', async (t) => {
  const { after, state } = following();
  const by = { kind: 'cli' } as const;
  t.strictSame(textsOf(after({ type: 'said', id: 'u', text: 'Hello', by })), [], 'its editor shows it');
  after({ type: 'replied', id: 'r', text: 'Hi.' });
  const replayed = openUpdates(root).next(state(), true);
  t.match(replayed, [
    { sessionUpdate: 'user_message_chunk', content: { text: 'Hello' } },
    { sessionUpdate: 'agent_message_chunk', content: { text: '\n\nHi.' } },
  ]);
});

t.test('hunks become texts before and after, and no text is Markdown', async (t) => {
  t.strictSame(
    diffsOf('/a', '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n@@ -0,0 +9 @@\n+more\n'),
    [
      { type: 'diff', path: '/a', oldText: 'same\nold\n', newText: 'same\nnew\n' },
      { type: 'diff', path: '/a', oldText: null, newText: 'more\n' },
    ],
  );
  t.match(fenced('a ``` b\n\u001b[2J'), { content: { text: '````text\na ``` b\n````' } });
});
