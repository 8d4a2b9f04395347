import t from 'tap';
import { openedState } from '../../../session/state/reduce.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { ground } from '../state/walk.ts';
import { differences, normalised } from './shown.ts';

t.test('the expectation of a script matches named fields only, with exact lists and values', async (t) => {
  const found = {
    status: 'idle',
    tasks: ['completed', 'failed'],
    note: 'a long one',
    nested: { a: 1, b: null },
  };
  t.strictSame(differences(found, {}), []);
  t.strictSame(differences(found, { status: 'idle', note: { has: 'long' }, nested: { b: null } }), []);
  for (const wrong of [
    { status: 'idl' },
    { tasks: ['completed'] },
    { tasks: ['failed', 'completed'] },
    { tasks: [] },
    { note: 'long' },
    { note: { has: 'short' } },
    { nested: { a: 2 } },
    { nested: { c: {} } },
    { status: { has: 'x' }, pending: [] },
  ])
    t.not(differences(found, wrong).length, 0, JSON.stringify(wrong));
});

t.test('normalised snapshots are equal if the sessions differ only in ids and times', async (t) => {
  const ids = (last: string) => `019aaaaa-0000-7000-8000-00000000000${last}`;
  const of = (sessionId: string, threadId: string, atMs: number, provider = 'none') =>
    normalised(
      toSnapshot(
        openedState({
          type: 'opened',
          atMs,
          ground: { ...ground({ sessionId, threadId }), provider: { provider, managed: false } },
        }),
      ),
      '/nowhere',
    );
  const one = of(ids('1'), ids('2'), 1);
  t.strictSame(of(ids('3'), ids('4'), 2_000_000_000_000), one);
  t.strictNotSame(of(ids('3'), ids('3'), 1), one, 'one id in two places');
  t.strictNotSame(of(ids('1'), ids('2'), 1, 'other'), one);
});
