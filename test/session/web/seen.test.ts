import t from 'tap';
import { optionOfKey } from '../../../session/screen/asked.ts';
import { gatesIn, outcomeOf, readGate, readOutcome } from '../../../session/screen/words.ts';
import {
  type Before,
  groupsOf,
  keepBefore,
  nothingBefore,
  withLoaded,
} from '../../../session/web/page/keep-transcript.ts';
import { controllerWords, mayWrite, standingOf } from '../../../session/web/page/page.ts';
import type { Entry, Seen } from '../../../session/web/seen.ts';
import { takenBack } from '../../../session/web/view/panes/workflow-pane.ts';
import { foldChange } from '../../../session/web/wire/follow-session.ts';
import { foldChanges } from '../api/fold-changes.ts';
import { listen } from '../api/listen.ts';
import { servePage, toldSession } from './serve-page.ts';

t.test('folding the changes one by one gives the same view as folding them all', async (t) => {
  const session = toldSession(t);
  const { baseUrl } = await servePage(t, session);
  const reader = listen(Number(new URL(baseUrl).port), '?wire=2');
  await reader.hears(({ data }) => data.kind === 'resync');
  await session.say('Make it exact.');
  await session.report(
    { type: 'replying', id: 'm', text: 'Let me ' },
    { type: 'replying', id: 'm', text: 'see.' },
    { type: 'tool', id: 'c', toolName: 'workspace.fs', status: 'running', summary: 'read a' },
    { type: 'tool', id: 'c', toolName: 'workspace.fs', status: 'completed', summary: 'read a' },
    { type: 'tasked', task: { id: 'x', status: 'running' } },
    { type: 'ask', subject: 's', kind: 'request_user_input', metadata: { questions: [] } },
    { type: 'end', end: 'done' },
  );
  await reader.hears(({ data }) => data.kind === 'status_changed' && data.payload.status === 'idle');
  const events = reader.heard();
  let seen: Seen | undefined;
  for (const { data } of events) seen = foldChange(seen, data);
  t.strictSame(seen, foldChanges(events));
  t.equal(seen?.transcript.find(({ id }) => id === 'm')?.content, 'Let me see.');
  reader.socket.destroy();
});

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({ id: `e${from + at}` }) as Entry);

t.test('entries that left the window are kept only as long as there is no gap', async (t) => {
  const seen = (from: number, to: number, threadId = 't') =>
    ({
      threadId,
      transcript: numbered(from, to),
      ...(from === 0 ? {} : { earlier: from }),
    }) as unknown as Seen;
  const ids = ({ entries, from }: Before) => [from, ...entries.map(({ id }) => id)];
  const once = keepBefore(nothingBefore, seen(0, 4), seen(2, 6));
  t.strictSame(ids(once), [0, 'e0', 'e1']);
  t.strictSame(ids(keepBefore(once, seen(2, 6), seen(3, 7))), [0, 'e0', 'e1', 'e2']);
  t.strictSame(ids(keepBefore(once, seen(2, 6), seen(1, 5))), [0, 'e0']);
  t.strictSame(ids(keepBefore(once, seen(2, 6), seen(9, 12))), [9], 'a gap is no transcript');
  t.strictSame(ids(keepBefore(once, seen(2, 6), seen(2, 6, 'other'))), [2]);
  const late = keepBefore(nothingBefore, undefined, seen(7, 9));
  t.strictSame(ids(late), [7], 'whoever comes late has what came before loaded');
  const loaded = withLoaded(keepBefore(late, seen(7, 9), seen(8, 10)), numbered(3, 7), 3);
  t.strictSame(ids(loaded), [3, 'e3', 'e4', 'e5', 'e6', 'e7']);
  t.strictSame(ids(keepBefore(loaded, seen(8, 10), seen(9, 11))).length, 7);
});

t.test('groups of entries keep their keys when either end grows', async (t) => {
  const keys = (from: number, to: number) =>
    groupsOf(numbered(from, to), 4, from).map(({ key, entries }) => [key, ...entries.map(({ id }) => id)]);
  t.strictSame(keys(5, 10), [
    [1, 'e5', 'e6', 'e7'],
    [2, 'e8', 'e9'],
  ]);
  t.strictSame(keys(1, 12), [
    [0, 'e1', 'e2', 'e3'],
    [1, 'e4', 'e5', 'e6', 'e7'],
    [2, 'e8', 'e9', 'e10', 'e11'],
  ]);
  t.strictSame(keys(8, 8), []);
});

t.test('an undone run is marked as undone until the undo is undone as well', async (t) => {
  const undo = (words: string) =>
    ({ id: words, kind: 'info_note', title: 'Undo', content: words }) as unknown as Entry;
  const entries = [
    undo('run u1 takes back run a'),
    undo('run u2 takes back task task-1 of run b'),
    undo('nothing of run c is left to be taken back'),
    undo('run u3 takes back run u1'),
  ];
  t.strictSame([...takenBack(entries)], ['b/task-1', 'u1']);
});

t.test('write permission follows from the controller and the held lease', async (t) => {
  const none = { expiresAtMs: 0, isLapsed: false, isDisabled: false };
  const standing = (
    kind: Seen['controller']['kind'],
    held: Partial<Parameters<typeof standingOf>[1]> = {},
    more: { readonly reason?: string; readonly attachable?: readonly string[] } = {},
  ) => standingOf({ kind, canWrite: true, ...more }, { ...none, ...held }, more.attachable);
  t.equal(standing('browser', { token: 'k' }), 'mine');
  t.equal(standing('browser'), 'other');
  t.equal(standing('automation'), 'other');
  t.equal(standing('none'), 'free');
  t.equal(standing('tui'), 'terminal');
  t.equal(standing('tui', { isLapsed: true }), 'lapsed');
  t.equal(standing('none', {}, { reason: 'no client may attach' }), 'closed');
  t.equal(standing('tui', {}, { attachable: ['automation'] }), 'closed');
  t.equal(standing('none', { isDisabled: true }), 'closed');
  t.strictSame((['mine', 'lapsed', 'free', 'terminal', 'other', 'closed'] as const).filter(mayWrite), [
    'mine',
    'lapsed',
    'free',
  ]);
  t.match(controllerWords('closed', 'tui'), /only watches/);
});

t.test('keys choose options by number and letter', async (t) => {
  const options = ['approve', 'approve_session', 'deny'].map((id) => ({ id }));
  t.equal(optionOfKey('2', options), 'approve_session');
  t.equal(optionOfKey('Y', options), 'approve');
  t.equal(optionOfKey('n', options), 'deny');
  t.equal(optionOfKey('9', options), undefined);
  t.equal(optionOfKey('0', options), undefined);
  t.equal(optionOfKey('x', options), undefined, 'no such option here');
  const wide = [...options, { id: 'allow_all_commands' }];
  t.equal(optionOfKey('a', wide), undefined, 'a slip of the finger allows nothing');
  t.equal(optionOfKey('A', wide), 'allow_all_commands');
  t.equal(optionOfKey('e', [{ id: 'execute' }, { id: 'cancel' }]), 'execute');
});

t.test('gates and the outcome are read from data, not from text', async (t) => {
  const runId = '01a2071a-1111-7111-8111-111111111111';
  const gate = { stage: 'fast', status: 'passed', ran: 1, expected: 1 } as const;
  const outcome = { runId, decision: 'commit', why: 'every gate passed', commit: '0'.repeat(40) } as const;
  const shown = { title: 'Committed', isCommit: true, runId, words: 'every gate passed' };
  t.strictSame(gatesIn({ gates: [gate] }), [
    { stage: 'fast', status: 'passed', words: '1 of 1 ran', failed: [] },
  ]);
  t.strictSame(gatesIn({}), []);
  t.match(outcomeOf({ outcome }), shown);
  t.match(outcomeOf({ outcome: { runId, decision: 'waiting', why: 'waits for 2' } }), {
    title: 'Waiting for people',
    isCommit: false,
  });
  t.equal(outcomeOf({}), undefined);
  t.match(readGate({ metadata: { gate } }), { stage: 'fast' });
  t.match(readOutcome({ metadata: { outcome } }), shown);
  t.strictSame([readGate({ metadata: {} }), readOutcome({ metadata: {} })], [undefined, undefined]);
});
