import t from 'tap';
import { readSpoken } from '../../../session/state/slash.ts';
import { slashCommands } from '../../../session/state/slash-words.ts';

t.test(
  '`readSpoken` reads plain text, slash commands and shell commands, and refuses other forms',
  async (t) => {
    t.strictSame(readSpoken(' what is /ask? '), { kind: 'plain', text: ' what is /ask? ' });
    t.strictSame(readSpoken(' /ask  why\nthat?'), { kind: 'ask', text: 'why\nthat?' });
    t.strictSame(readSpoken('/plan continue'), { kind: 'plan-continue' });
    t.strictSame(readSpoken('/plan  continue  6 '), { kind: 'plan-continue', limit: 6 });
    t.strictSame(readSpoken('/budget $2.50'), { kind: 'budget', limitUsd: 2.5 });
    t.strictSame(readSpoken('/budget off'), { kind: 'budget' });
    for (const text of ['!ls -la', ' ! ls -la ', '/shell  ls -la'])
      t.strictSame(readSpoken(text), { kind: 'shell', command: 'ls -la' }, text);
    t.strictSame(readSpoken('say !ls'), { kind: 'plain', text: 'say !ls' });
    for (const text of ['!', '! ', '/shell', `!${'x'.repeat(8001)}`, '!a\0b'])
      t.throws(() => readSpoken(text), { code: 'UNSUPPORTED_OPERATION' }, text.slice(0, 9));
    const budgets = ['/budget', '/budget 0', '/budget -1', '/budget 1e3', '/budget 1000001', '/budget two'];
    for (const text of budgets) t.throws(() => readSpoken(text), { code: 'UNSUPPORTED_OPERATION' }, text);
    for (const text of ['/', '/ask', '/Ask x', '/plan', '/plan continue x', '/plan continue 11', '/nothing'])
      t.throws(() => readSpoken(text), { code: 'UNSUPPORTED_OPERATION' }, text);
  },
);

t.test('an unknown slash command is refused with the list of all commands', async (t) => {
  const commands = slashCommands.map(({ form }) => form);
  t.throws(() => readSpoken('/nothing'), { code: 'UNSUPPORTED_OPERATION', detail: { commands } });
});

t.test('a slash command in the wrong form is refused with its own form only', async (t) => {
  const message = 'expected `/budget USD|off`, found `/budget two`';
  t.throws(() => readSpoken('/budget two'), { code: 'UNSUPPORTED_OPERATION', message });
  t.throws(() => readSpoken('/network'), {
    message: 'expected `/network allow|deny`, found `/network`',
    hints: [],
  });
});

t.test('the table of slash commands has unique forms and a short description for each', async (t) => {
  t.equal(new Set(slashCommands.map(({ form }) => form)).size, slashCommands.length);
  for (const { name, form, says } of slashCommands) {
    t.ok(form === `/${name}` || form.startsWith(`/${name} `), form);
    t.match(says, /^[a-z].{5,160}$/, form);
    t.notOk(says.endsWith('.'), form);
  }
});
