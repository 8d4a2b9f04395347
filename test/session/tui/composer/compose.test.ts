import t from 'tap';
import { edited, giveBack } from '../../../../session/tui/composer/compose.ts';
import { turnEnded } from '../../../../session/tui/composer/composer.ts';
import { Person } from './person.ts';

t.test('Enter sends the text, but not an empty one', async (t) => {
  const person = new Person()
    .presses('enter')
    .types('  ')
    .presses('enter', 'ctrl+u')
    .pastes('two\nlines')
    .presses('enter');
  t.strictSame(person.effects, [{ type: 'submit', text: 'two\nlines' }]);
  t.equal(person.text, '|');
});

t.test('a text that begins with ! is sent as a message, but ! alone is not', async (t) => {
  const person = new Person().types('!').presses('enter');
  t.strictSame(person.effects, []);
  t.match(person.composer.notice, /type a command/);
  t.strictSame(person.types(' npm test').presses('enter').effects, [{ type: 'submit', text: '! npm test' }]);
  t.equal(person.presses('up').text, '! npm test|');
});

t.test('messages typed during a turn are queued in order and sent after it', async (t) => {
  const person = new Person([], { busy: true })
    .types('then this')
    .presses('tab')
    .types('and that')
    .presses('enter');
  t.strictSame(person.effects, []);
  t.strictSame(person.screen(), ['waits: then this', 'waits: and that', '> ']);
  const first = turnEnded(person.composer);
  t.strictSame(first.effects, [{ type: 'submit', text: 'then this' }]);
  const second = turnEnded(first.composer);
  t.strictSame(second.effects, [{ type: 'submit', text: 'and that' }]);
  t.strictSame(turnEnded(second.composer).effects, []);
});

t.test('a command given during a turn is sent at once with Enter and queued with Tab', async (t) => {
  const person = new Person([], { busy: true }).types('/status').presses('enter');
  t.strictSame(person.effects, [{ type: 'submit', text: '/status' }]);
  person.types('!ls').presses('tab').types('/ask why').presses('tab');
  t.strictSame(person.composer.queue, ['!ls', '/ask why']);
  t.strictSame(turnEnded(person.composer).effects, [{ type: 'submit', text: '!ls' }]);
});

t.test('Up or Backspace in an empty text edits the last queued message', async (t) => {
  const person = new Person([], { busy: true }).types('one').presses('tab').types('two').presses('tab');
  t.equal(person.presses('up').text, 'two|');
  t.strictSame(person.composer.queue, ['one']);
  t.equal(person.presses('ctrl+u', 'backspace').text, 'one|');
  t.strictSame(person.composer.queue, []);
});

t.test('a paste of one path of an image is a mark, and is sent as `@path`', async (t) => {
  const images: readonly (readonly [pasted: string, shown: string, sent: string])[] = [
    ['/tmp/logo.png', '[image logo.png]', '@/tmp/logo.png'],
    ["'/tmp/my logo.PNG'", '[image my logo.PNG]', '@"/tmp/my logo.PNG"'],
    ['/tmp/my\\ logo.webp ', '[image my logo.webp]', '@"/tmp/my logo.webp"'],
    ['file:///tmp/my%20logo.jpeg', '[image my logo.jpeg]', '@"/tmp/my logo.jpeg"'],
    ['~/logo.jpg\n', '[image logo.jpg]', '@~/logo.jpg'],
  ];
  for (const [pasted, shown, sent] of images) {
    const person = new Person().types('see').pastes(pasted);
    t.strictSame(person.screen(), [`> see ${shown} `], pasted);
    const { effects } = person.types('now').presses('enter');
    t.strictSame(effects, [{ type: 'submit', text: `see ${sent} now` }]);
  }
  const words = ['/tmp/notes.txt', 'logo.png', '/a.png /b.png', 'see /a.png', '/a".png', 'file:///%.png'];
  for (const pasted of words)
    t.strictSame(new Person().pastes(pasted).presses('enter').effects, [{ type: 'submit', text: pasted }]);
});

t.test('a paste stays folded when its message is edited again or was refused', async (t) => {
  const person = new Person([], { busy: true })
    .types('see ')
    .pastes('line\n'.repeat(50))
    .presses('tab', 'up');
  t.strictSame(person.screen(), ['> see [pasted 50 lines]']);
  const text = person.whole;
  person.context = { ...person.context, busy: false };
  person.composer = giveBack(person.presses('enter').composer, text, 'no');
  t.strictSame(person.screen(), ['> see [pasted 50 lines]', 'no']);
  t.equal(person.whole, text);
});

t.test('Esc interrupts a turn and moves the queued messages back into the text', async (t) => {
  const person = new Person([], { busy: true })
    .types('one')
    .presses('tab')
    .types('two')
    .presses('tab')
    .types('three');
  t.strictSame(person.presses('escape').effects, [{ type: 'interrupt' }]);
  t.equal(person.text, 'one\ntwo\nthree|');
  t.strictSame(turnEnded(person.composer).effects, []);
});

t.test('the queue holds fifty messages, and a further one stays in the text', async (t) => {
  const person = new Person([], { busy: true });
  for (let count = 0; count < 50; count += 1) person.types('x').presses('tab');
  t.equal(person.types('kept').presses('tab').text, 'kept|');
  t.match(person.composer.notice, /wait already/);
  t.strictSame(person.screen(5), [
    'waits: x',
    'waits: x',
    'waits: 48 more',
    '> kept',
    '50 messages wait already; nothing is lost, send it later',
  ]);
});

t.test('Esc Esc goes back only from an empty text', async (t) => {
  const person = new Person().presses('escape');
  t.strictSame(person.effects, []);
  t.strictSame(person.presses('left', 'escape').effects, [], 'one after the other');
  t.strictSame(person.presses('escape').effects, [{ type: 'go-back' }]);
  t.strictSame(person.types('text').presses('escape', 'escape').effects, []);
  t.equal(person.text, 'text|');
});

t.test('Ctrl+C twice on an empty text quits, and interrupts a turn first', async (t) => {
  const person = new Person().types('x').presses('ctrl+c');
  t.strictSame(person.presses('ctrl+c').effects, []);
  t.match(person.composer.notice, /again quits/);
  t.strictSame(person.presses('left', 'ctrl+c').effects, [], 'a key between starts anew');
  t.strictSame(person.presses('ctrl+c').effects, [{ type: 'quit' }]);
  const busy = new Person([], { busy: true });
  t.strictSame(busy.presses('ctrl+c', 'ctrl+c').effects, [{ type: 'interrupt' }, { type: 'quit' }]);
});

t.test('Ctrl+D quits on an empty text and deletes on any other', async (t) => {
  const person = new Person().types('ab').presses('home', 'ctrl+d');
  t.strictSame(person.effects, []);
  t.strictSame(person.presses('ctrl+d', 'ctrl+d').effects, [{ type: 'quit' }]);
});

t.test('single keys trigger actions outside the composer', async (t) => {
  const asked = (...chords: string[]) => new Person().presses(...chords).effects;
  t.strictSame(asked('shift+tab'), [{ type: 'cycle-context' }]);
  t.strictSame(asked('ctrl+z'), [{ type: 'suspend' }]);
  t.strictSame(asked('ctrl+l'), [{ type: 'redraw' }]);
  t.strictSame(asked('ctrl+g'), [{ type: 'edit-outside', text: '' }]);
  t.strictSame(asked('ctrl+x', 'ctrl+e'), [{ type: 'edit-outside', text: '' }]);
  t.strictSame(asked('ctrl+x', 'left', 'ctrl+e'), []);
});

t.test('? opens the help on an empty text and is a character in any other', async (t) => {
  const person = new Person().types('?');
  t.strictSame(person.effects, [{ type: 'help' }]);
  t.equal(person.types('why?').text, 'why?|');
});

t.test('the external editor gets the whole text, and undo restores the text from before', async (t) => {
  const long = 'line\n'.repeat(50);
  const person = new Person().types('see ').pastes(long).presses('ctrl+g');
  t.strictSame(person.effects, [{ type: 'edit-outside', text: `see ${long}` }]);
  t.equal(edited(person.composer, `see ${long}`), person.composer, 'what is the same changes nothing');
  person.composer = edited(person.composer, 'done\x07\r\n');
  t.equal(person.text, 'done|');
  t.equal(person.presses('ctrl+_').whole, `see ${long}`);
});

t.test('a message that is too long is not sent and stays in the text', async (t) => {
  const size = 1025 * 1024;
  const long = new Person().pastes('x'.repeat(size)).presses('enter');
  t.strictSame(long.effects, []);
  t.equal(long.whole.length, size);
  t.equal(
    long.composer.notice,
    'too long to be sent: 1,025 KiB of at most 1,024 KiB; nothing is lost, shorten it',
  );
  t.equal(new Person().pastes('x'.repeat(1000 * 1024)).presses('enter').effects.length, 1);
  const waiting = new Person([], { busy: true }).pastes('x'.repeat(size)).presses('tab');
  t.strictSame([waiting.composer.queue, waiting.whole.length], [[], size]);
});

t.test('a message that the session refused goes back into the text', async (t) => {
  const person = new Person().types('do it').presses('enter');
  person.composer = giveBack(person.composer, 'do it', 'another client holds the session');
  t.strictSame(person.screen(), ['> do it', 'another client holds the session']);
  person.presses('ctrl+c').types('next');
  person.composer = giveBack(person.composer, 'do it', 'no');
  t.equal(person.text, 'next|', 'what is being written stays');
  t.match(person.composer.notice, /Up brings it back/);
  t.equal(person.presses('up').text, 'do it|');
});
