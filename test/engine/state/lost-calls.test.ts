import t from 'tap';
import {
  callTypes,
  claimedCalls,
  lostCallNotices,
  lostIfStopped,
  lostWork,
  openCallLedger,
} from '../../../engine/state/calls.ts';
import { resumedType } from '../../../engine/state/spent.ts';
import type { JournalRecord } from '../../../store/parse-journal.ts';

const startedAt = '2026-11-22T10:00:00.000Z';
const digest = 'a'.repeat(64);
const asked = {
  tool: 'workspace.command',
  action: 'execute',
  command: 'publish',
  argumentsDigest: digest,
  startedAt,
};

/** A journal in memory. */
function journal(...entries: readonly (readonly [string, unknown])[]) {
  const records: JournalRecord[] = [];
  const log = {
    records,
    async append(type: string, data: unknown) {
      records.push({ seq: records.length + 1, at: startedAt, type, data, prev: '' });
    },
  };
  for (const [type, data] of entries) void log.append(type, data);
  return log;
}

const begun = (attempt: string, call = 1, more = {}) =>
  [callTypes.begun, { attempt, call, ...asked, ...more }] as const;
const resumed = [resumedType, {}] as const;
const worked = (attempt: string) => ['step-ended', { step: `${attempt}/worked`, answer: {} }] as const;

t.test('lost calls are tracked for each attempt on its own', async (t) => {
  const { records } = journal(
    begun('a'),
    begun('b'),
    worked('a'),
    resumed,
    begun('b', 2),
    worked('b'),
    resumed,
  );
  t.strictSame(
    lostWork(records).calls.map(({ attempt, call }) => [attempt, call]),
    [['b', 1]],
    'the attempt that was made anew does not find again what its first try lost',
  );
  t.strictSame(lostWork(journal(begun('a')).records).calls, [], 'this process has lost nothing');
  t.equal(lostIfStopped(journal(begun('a')).records).calls.length, 1, 'unless it is over');
});

t.test('the usage of an interrupted attempt is counted once', async (t) => {
  const spent = (attempt: string, costUnits: number) =>
    [callTypes.spent, { attempt, spent: { turns: 1, tokensUsed: 1, costUnits } }] as const;
  const { records } = journal(
    spent('a', 2),
    spent('a', 5),
    resumed,
    spent('a', 1),
    spent('b', 3),
    worked('b'),
    resumed,
  );
  t.strictSame(
    [...lostWork(records).spent].map(([attempt, { costUnits }]) => [attempt, costUnits]),
    [['a', 6]],
  );
});

t.test('an interrupted call is held back from every attempt of the run, other calls are not', async (t) => {
  const ledger = openCallLedger(journal(begun('a'), resumed));
  const other = ledger.of('b');
  t.match(other.held(asked), { command: 'publish' });
  t.equal(other.held({ ...asked, argumentsDigest: 'b'.repeat(64) }), undefined);
  t.equal(other.held({ ...asked, action: 'read' }), undefined);
  t.equal(other.held({ ...asked, tool: 'web.search' }), undefined);
});

t.test('the user can allow lost calls again, and later processes see it', async (t) => {
  const log = journal(begun('a'), resumed);
  const ledger = openCallLedger(log);
  await ledger.allow();
  t.equal(ledger.of('a').held(asked), undefined);
  t.equal(ledger.lost().length, 1, 'they are told all the same');
  t.equal(openCallLedger(log).of('a').held(asked), undefined);
  const { length } = log.records;
  await ledger.allow();
  t.equal(log.records.length, length, 'nothing is written where there is nothing to allow');
});

t.test('calls of one attempt are numbered continuously across its processes', async (t) => {
  const log = journal(begun('a', 7), resumed);
  await openCallLedger(log).of('a').begin(asked);
  t.match(log.records.at(-1), { data: { attempt: 'a', call: 8 } });
});

t.test('a malformed call record is refused as JOURNAL_CORRUPT', async (t) => {
  for (const data of [null, {}, { attempt: 'a', call: 1 }, { ...begun('a')[1], startedAt: 'now' }, 7]) {
    const { records } = journal([callTypes.begun, data]);
    for (const read of [lostWork, claimedCalls])
      t.throws(
        () => read(records),
        { code: 'JOURNAL_CORRUPT', message: /record 1 \(`call-begun`\)/ },
        JSON.stringify(data),
      );
  }
});

t.test('in an unauthenticated journal every call counts, even one that is recorded as ended', async (t) => {
  const ended = [callTypes.ended, { attempt: 'a', call: 1, outcome: 'failed', durationMs: 1 }] as const;
  const { records } = journal(begun('a'), ended, worked('a'), begun('b'), [callTypes.allowed, {}]);
  t.match(claimedCalls(records), [{ command: 'publish' }]);
  t.equal(claimedCalls(records).length, 1, 'each words once');
});

t.test('notices list twenty lost calls and count the rest', async (t) => {
  t.strictSame(lostCallNotices([]), []);
  const many = Array.from({ length: 30 }, (_, call) => ({ ...asked, attempt: 'a', call }));
  const told = lostCallNotices(many);
  t.equal(told.length, 22);
  const end = 'interrupted, and may have had an effect outside';
  t.equal(told[0], `30 calls of a model had left this machine when the attempt that made them was ${end}`);
  const [one] = lostCallNotices(many.slice(29));
  t.equal(one, `1 call of a model had left this machine when the attempt that made it was ${end}`);
  t.equal(told.at(-1), 'and 10 more');
});
