import t from 'tap';
import { rankFuzzy } from '../../../../session/tui/composer/completion.ts';
import { offered } from '../../../../session/tui/composer/compose.ts';
import { Person } from './person.ts';

const rank = (sought: string, ...names: string[]) => rankFuzzy(names, sought, (name) => name);

t.test(
  '`rankFuzzy` ranks equal names, prefixes, word starts, parts and scattered letters in that order',
  async (t) => {
    t.strictSame(
      rank('plan', 'p-l-a-n', 'explain', 'explan', 'the-plan', 'planning', 'Plan'),
      ['Plan', 'planning', 'the-plan', 'explan', 'p-l-a-n'].flatMap((name) =>
        name === 'p-l-a-n' ? ['explain', name] : [name],
      ),
    );
    t.strictSame(rank('b', 'ab', 'b2', 'b1', 'cb'), ['b2', 'b1', 'ab', 'cb'], 'equals stay in their order');
    t.strictSame(rank('', 'z', 'a'), ['z', 'a']);
    t.strictSame(rank('nothing', 'else'), []);
  },
);

t.test('a slash opens the list of commands, and letters narrow it', async (t) => {
  const person = new Person().types('/');
  t.strictSame(person.screen(), [
    '> /',
    '› /ask TEXT           is answered, and changes nothing',
    '  /plan               shows the plan',
    '  /plan continue [N]  goes on with a plan that failed',
    '  /status             what the session is at',
    '  /approvals          what is approved',
  ]);
  t.strictSame(person.types('st').screen(), ['> /st', '› /status  what the session is at']);
});

t.test('Tab completes a command, and Enter sends one that has no arguments', async (t) => {
  t.equal(new Person().types('/as').presses('tab').text, '/ask |');
  const person = new Person().types('/stat').presses('enter');
  t.strictSame(person.effects, [{ type: 'submit', text: '/status' }]);
  const asking = new Person().types('/as').presses('enter');
  t.equal(asking.text, '/ask |', 'one with arguments waits for them');
  t.strictSame(asking.effects, []);
  t.strictSame(asking.types('why?').presses('enter').effects, [{ type: 'submit', text: '/ask why?' }]);
});

t.test('arrow keys move through the list and wrap at its ends', async (t) => {
  const person = new Person().types('/').presses('down', 'down', 'up', 'up', 'up');
  t.equal(person.screen().at(-1), '› /approvals          what is approved');
  t.equal(person.presses('tab').text, '/approvals|');
});

t.test('a complete command is sent as typed although a longer one begins the same way', async (t) => {
  const person = new Person().types('/plan').presses('enter');
  t.strictSame(person.effects, [{ type: 'submit', text: '/plan' }]);
  t.strictSame(new Person().types('/plan c').screen(), [
    '> /plan c',
    '› /plan continue [N]  goes on with a plan that failed',
  ]);
  t.strictSame(new Person().types('/ask c').screen(), ['> /ask c'], 'behind a command stand its arguments');
});

t.test('Esc closes a list, which stays closed for that word', async (t) => {
  const person = new Person([], { busy: true }).types('/pl').presses('escape').types('an');
  t.strictSame(person.screen(), ['> /plan']);
  t.strictSame(person.effects, [], 'and interrupts nothing');
  t.equal(person.presses('ctrl+u').types('/').screen().length, 6, 'a new one opens again');
  for (const chord of ['ctrl+c', 'enter']) {
    const next = new Person().types('/sta').presses('escape', chord).types('/');
    t.equal(next.screen().length, 6, `after ${chord} too`);
  }
});

t.test('a list opens on typing, not on history or cursor keys', async (t) => {
  const person = new Person(['one', '/plan']).presses('up');
  t.strictSame(person.screen(), ['> /plan']);
  t.equal(person.presses('left', 'right', 'up').text, 'one|', 'and Up goes on to older messages');
});

t.test('an @ requests paths and shows them as a list', async (t) => {
  const person = new Person().types('see @sr');
  t.strictSame(person.effects, [
    { type: 'complete-path', prefix: '', id: 1 },
    { type: 'complete-path', prefix: 's', id: 2 },
    { type: 'complete-path', prefix: 'sr', id: 3 },
  ]);
  person.composer = offered(person.composer, 3, ['test/src.ts', 'src/', 'src/price.js']);
  t.strictSame(person.screen(), ['> see @sr', '› src/', '  src/price.js', '  test/src.ts']);
  t.equal(person.presses('tab').text, 'see @src/|', 'a directory goes on');
  t.strictSame(person.effects, [{ type: 'complete-path', prefix: 'src/', id: 4 }]);
  t.equal(person.presses('down', 'enter').text, 'see @src/price.js |');
  t.strictSame(person.screen(), ['> see @src/price.js ']);
});

t.test('a completion result that arrives late is ignored', async (t) => {
  const person = new Person().types('@a').types('b');
  person.composer = offered(person.composer, 2, ['ab-late']);
  t.strictSame(person.screen(), ['> @ab']);
  person.composer = offered(person.composer, 3, ['ab-now']);
  t.strictSame(person.screen(), ['> @ab', '› ab-now']);
  person.types(' ');
  t.equal(offered(person.composer, 3, ['ab-now']).completion, undefined);
});

t.test('offered paths are narrowed while the next result is pending', async (t) => {
  const person = new Person().types('@');
  person.composer = offered(person.composer, 1, ['alpha', 'beta']);
  t.strictSame(person.types('b').screen(), ['> @b', '› beta']);
});

t.test('a path with spaces is quoted, and one with control characters is not offered', async (t) => {
  const person = new Person().types('@m');
  person.composer = offered(person.composer, 2, [
    'my file.ts',
    'm\x1b]0;x\x07',
    'my hidden\u202ecod.exe',
    '',
  ]);
  t.strictSame(person.screen(), ['> @m', '› my file.ts', '  my hidden\\u{202e}cod.exe']);
  t.equal(person.presses('tab').text, '@"my file.ts" |');
  t.equal(new Person().types('@"my fi').effects.at(-1)?.type, 'complete-path');
});

t.test('a path can be completed inside a command', async (t) => {
  const person = new Person().types('/ask see @sr');
  t.strictSame(person.effects.at(-1), { type: 'complete-path', prefix: 'sr', id: 3 });
  person.composer = offered(person.composer, 3, ['src/price.js']);
  t.equal(person.presses('tab').text, '/ask see @src/price.js |');
});

t.test('an e-mail address does not open path completion', async (t) => {
  t.strictSame(new Person().types('me@example').effects, []);
});

t.test('a long list shows eight rows around the selection and the position in the list', async (t) => {
  const person = new Person().types('@');
  person.composer = offered(
    person.composer,
    1,
    Array.from({ length: 40 }, (_, index) => `file-${index + 10}`),
  );
  person.presses(...Array.from({ length: 20 }, () => 'down'));
  t.strictSame(person.screen(), [
    '> @',
    ...[27, 28, 29].map((index) => `  file-${index}`),
    '› file-30',
    ...[31, 32, 33].map((index) => `  file-${index}`),
    '  21 of 40',
  ]);
  t.equal(person.screen(4).length, 4);
});
