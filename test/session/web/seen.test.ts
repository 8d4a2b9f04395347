import t from 'tap';
import { gatesIn } from '../../../session/screen/words/gates-in.ts';
import { outcomeOf } from '../../../session/screen/words/outcome-of.ts';
import { keepBefore } from '../../../session/web/page/keep-transcript.ts';
import type { Entry, Seen } from '../../../session/web/seen.ts';
import { foldChange } from '../../../session/web/wire/fold-change.ts';
import { optionOfKey } from '../../../session/web/words/option-keys.ts';
import { readApproval, verdictWords } from '../../../session/web/words/read-approval.ts';
import { controllerWords, mayWrite, standingOf } from '../../../session/web/words/standing.ts';
import { foldChanges } from '../api/fold-changes.ts';
import { listen } from '../api/listen.ts';
import { servePage, toldSession } from './serve-page.ts';

t.test('what the page sees is what the session shows, change by change', async (t) => {
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

t.test('what left the window stays, without a gap', async (t) => {
  const entries = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ id: `e${from + at}` }) as Entry);
  const seen = (from: number, to: number, threadId = 't') =>
    ({ threadId, transcript: entries(from, to) }) as unknown as Seen;
  const ids = (list: readonly Entry[]) => list.map(({ id }) => id);
  const once = keepBefore([], seen(0, 4), seen(2, 6));
  t.strictSame(ids(once), ['e0', 'e1']);
  t.strictSame(ids(keepBefore(once, seen(2, 6), seen(3, 7))), ['e0', 'e1', 'e2']);
  t.strictSame(ids(keepBefore(once, seen(2, 6), seen(1, 5))), ['e0']);
  t.strictSame(keepBefore(once, seen(2, 6), seen(9, 12)), [], 'a gap is no transcript');
  t.strictSame(keepBefore(once, seen(2, 6), seen(2, 6, 'other')), []);
});

t.test('who may write is told from who has the session', async (t) => {
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

t.test('keys choose options by place and by letter', async (t) => {
  const options = ['approve', 'approve_session', 'deny'].map((id) => ({ id }));
  t.equal(optionOfKey('2', options), 'approve_session');
  t.equal(optionOfKey('Y', options), 'approve');
  t.equal(optionOfKey('n', options), 'deny');
  t.equal(optionOfKey('9', options), undefined);
  t.equal(optionOfKey('0', options), undefined);
  t.equal(optionOfKey('x', options), undefined, 'no such option here');
});

t.test('a verdict that is missing is one that nobody has proven', async (t) => {
  const asked = readApproval({
    command: 'rm $A',
    segments: [{ words: [{ text: 'rm' }, { text: '$A', isKnown: false }] }, 7],
  });
  t.equal(asked.verdict, 'unknown');
  t.strictSame(asked.segments[0]?.words, [
    { text: 'rm', isKnown: true },
    { text: '$A', isKnown: false },
  ]);
  t.equal(verdictWords(asked.segments[1]?.verdict ?? ''), 'cannot prove');
  t.equal(verdictWords('anything'), 'cannot prove');
});

t.test('gates and the outcome are read from what the session told', async (t) => {
  const note = (title: string, content: string) =>
    ({ id: title + content, kind: 'info_note', title, content }) as Entry;
  const run = '01a2071a-1111-7111-8111-111111111111';
  const sha = '0'.repeat(40);
  const transcript = [
    note('Gate fast', 'failed: 1 of 1 ran'),
    note('Decision.Retry', `run ${run}: no`),
    note('Gate fast', 'passed: 1 of 1 ran'),
    note(
      'Decision.Commit',
      `run ${run}: ${sha} every gate passed; \`writ verify ${run}\`, \`writ show ${run}\``,
    ),
  ];
  t.match(gatesIn(transcript), [{ stage: 'fast', status: 'passed', words: '1 of 1 ran' }]);
  t.match(outcomeOf({ transcript }), { isCommit: true, runId: run, commit: sha });
  t.notMatch(outcomeOf({ transcript })?.words, /writ verify/);
  t.equal(outcomeOf({ transcript: [note('Note', 'Decision.Commit')] }), undefined);
});
