import t from 'tap';
import { grantFrom, keepGrants } from '../../../session/approvals/grants.ts';
import type { ToolUse } from '../../../session/approvals/tool-use.ts';
import { commandUse } from './use-of.ts';

function scene() {
  let [nowMs, monotonicMs, ids] = [1_000_000, 10, 0];
  const ledger = keepGrants({ now: () => nowMs, monotonic: () => monotonicMs });
  return {
    ledger,
    pass(ms: number, clockMs = ms) {
      nowMs += clockMs;
      monotonicMs += ms;
    },
    answer(option: string, use: ToolUse) {
      const grants = grantFrom({ option }, use, {
        now: ledger.now(),
        ttlSeconds: 300,
        by: { kind: 'browser', clientId: 'page' },
        newId: () => {
          ids += 1;
          return `g${ids}`;
        },
        mask: (text) => text.replaceAll('secret', '[x]'),
      });
      ledger.add(grants);
    },
  };
}

t.test('an approval of one call is spent by that call', async (t) => {
  const { ledger, answer } = scene();
  const use = commandUse('npm test');
  answer('approve', use);
  t.match(ledger.list(), [{ kind: 'once', usesLeft: 1 }]);
  t.equal(ledger.take({ ...use, id: 'another' }), undefined);
  t.equal(ledger.take(use)?.verdict, 'go');
  t.equal(ledger.take(use), undefined, 'once');
  t.strictSame(ledger.list(), []);
});

t.test('lists grants with their remaining time until they expire or are revoked', async (t) => {
  const { ledger, answer, pass } = scene();
  answer('approve_ttl', commandUse('npm test secret'));
  answer('approve_session', commandUse('make'));
  const list = () => ledger.list().filter(({ kind }) => kind !== 'once');
  pass(1500);
  t.match(list(), [
    { kind: 'ttl', what: 'npm test [x]', cwd: '/w', grantedBy: { clientId: 'page' }, secondsLeft: 299 },
    { kind: 'session', what: 'make' },
  ]);
  t.notOk('expiresAt' in (list()[1] ?? {}), 'what has no end tells none');
  t.equal(list()[0]?.expiresAt, new Date(1_000_000 + 300_000).toISOString());
  const [ttl, session] = list();
  ledger.revoke(session?.id ?? '');
  t.equal(ledger.take(commandUse('make')), undefined, 'at once');
  t.throws(() => ledger.require(session?.id ?? ''), { code: 'NOT_FOUND' });
  t.equal(ledger.take(commandUse('npm test secret'))?.grant.id, ttl?.id);
  pass(300_000);
  t.strictSame(list(), []);
  t.throws(() => ledger.require(ttl?.id ?? ''), { code: 'NOT_FOUND' });
});

t.test('an expired grant stays expired when the clock is set back', async (t) => {
  const { ledger, answer, pass } = scene();
  answer('approve_ttl', commandUse('npm test'));
  pass(10, 400_000);
  t.equal(ledger.take(commandUse('npm test')), undefined);
  pass(10, -400_000);
  t.equal(ledger.take(commandUse('npm test')), undefined);
});

t.test('drops the oldest of too many grants', async (t) => {
  const { ledger, answer } = scene();
  for (let n = 0; n < 250; n += 1) answer('approve_session', commandUse(`make a${n}`));
  t.ok(ledger.list().length <= 200);
  t.equal(ledger.take(commandUse('make a0')), undefined);
  t.equal(ledger.take(commandUse('make a249'))?.verdict, 'go');
});

t.test('grant kinds use snake_case names', async (t) => {
  const { ledger, answer } = scene();
  for (const option of ['approve', 'approve_session', 'approve_directory_ttl', 'allow_all_commands'])
    answer(option, commandUse('npm test'));
  const kinds = ledger.list().map(({ kind }) => kind);
  t.ok(kinds.includes('all_commands'));
  for (const kind of kinds) t.match(kind, /^[a-z]+(?:_[a-z]+)*$/);
});
