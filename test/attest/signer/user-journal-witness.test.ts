import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';

const digest = 'ab'.repeat(32);

function home(): {
  readonly env: { readonly HOME: string };
  readonly keys: string;
  readonly journals: string;
} {
  const HOME = t.testdir();
  const config = join(HOME, '.config', 'writ');
  return { env: { HOME }, keys: join(config, 'keys'), journals: join(config, 'journals') };
}

t.test('another process reads the recorded position of a journal, and its files are private', async (t) => {
  const { env, keys, journals } = home();
  const first = await userJournalWitness(env).open('run-1');
  t.equal(first.reached, undefined);
  await first.reach({ records: 7, digest });
  await first.reach({ records: 12, digest });
  const second = await userJournalWitness(env).open('run-1');
  t.same(second.reached, { records: 12, digest });
  t.ok(second.vouched('line', first.vouch('line')));
  t.notOk(second.vouched('another', first.vouch('line')));
  t.notOk((await userJournalWitness(env).open('run-2')).vouched('line', first.vouch('line')));
  for (const path of [join(keys, 'journal.key'), join(journals, 'run-1')])
    t.equal(statSync(path).mode & 0o777, 0o600, path);
  await second.forget();
  t.notOk(readdirSync(journals).includes('run-1'));
});

t.test('a forged or torn record of a journal position is ignored', async (t) => {
  const { env, journals } = home();
  const witness = await userJournalWitness(env).open('run-1');
  await witness.reach({ records: 7, digest });
  const path = join(journals, 'run-1');
  const whole = readFileSync(path, 'utf8');
  for (const text of [whole.replace('7', '3'), whole.slice(0, 40), '', 'x'.repeat(1000)]) {
    writeFileSync(path, text);
    t.equal((await userJournalWitness(env).open('run-1')).reached, undefined, text.slice(0, 20));
  }
  const other = await userJournalWitness(env).open('run-2');
  await other.reach({ records: 1, digest });
  writeFileSync(path, readFileSync(join(journals, 'run-2')));
  t.equal((await userJournalWitness(env).open('run-1')).reached, undefined, 'of another run');
});

t.test('a journal key that others can read, or that is malformed, is refused', async (t) => {
  const { env, keys } = home();
  const key = join(keys, 'journal.key');
  await userJournalWitness(env).open('run-1');
  chmodSync(key, 0o644);
  await t.rejects(userJournalWitness(env).open('run-1'), { code: 'KEY_INSECURE' });
  chmodSync(key, 0o600);
  writeFileSync(key, 'short\n');
  await t.rejects(userJournalWitness(env).open('run-1'), { code: 'KEY_UNUSABLE' });
  const linked = home();
  mkdirSync(linked.keys, { recursive: true });
  symlinkSync(key, join(linked.keys, 'journal.key'));
  await t.rejects(userJournalWitness(linked.env).open('run-1'), { code: 'KEY_INSECURE' });
});

t.test('without a writable home the witness works within the process', async (t) => {
  const box = t.testdir({ file: '' });
  const env = { HOME: join(box, 'file') };
  const first = await userJournalWitness(env).open('run-of-nobody');
  await first.reach({ records: 1, digest });
  t.same((await userJournalWitness(env).open('run-of-nobody')).reached, { records: 1, digest });
});

t.test('a voucher for one purpose is not valid for another purpose, journal or user', async (t) => {
  const { env } = home();
  const witness = userJournalWitness(env);
  const voucher = await witness.voucher('things');
  const word = voucher.vouch('line');
  t.ok((await userJournalWitness(env).voucher('things')).vouched('line', word), 'in a later process');
  t.notOk((await witness.voucher('other things')).vouched('line', word));
  t.notOk((await witness.open('things')).vouched('line', word));
  t.notOk((await userJournalWitness(home().env).voucher('things')).vouched('line', word), 'of another user');
});
