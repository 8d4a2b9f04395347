import t from 'tap';
import { historyLimits } from '../../../../session/tui/composer/history.ts';
import { Person } from './person.ts';

t.test('Up shows earlier messages, and Down returns to the draft', async (t) => {
  const person = new Person(['first', 'second']).types('a draft');
  t.equal(person.presses('up').text, 'second|');
  t.equal(person.presses('up').text, 'first|');
  t.equal(person.presses('up').text, '|first', 'there is nothing older: the cursor goes to the start');
  t.equal(person.presses('down', 'down').text, 'a draft|');
  t.equal(person.presses('down').text, 'a draft|');
});

t.test('an edited history entry keeps its edit while another entry is viewed', async (t) => {
  const person = new Person(['first', 'second']).presses('up').types(' changed').presses('home', 'up');
  t.equal(person.text, 'first|');
  t.equal(person.presses('down').text, 'second changed|');
  person.presses('ctrl+c', 'up', 'up');
  t.equal(person.text, 'second|', 'and the message itself is what it was');
});

t.test('a draft is kept when an earlier message is sent instead', async (t) => {
  const person = new Person(['first']).types('a draft').presses('up', 'enter');
  t.strictSame(person.effects, [{ type: 'submit', text: 'first' }]);
  t.equal(person.presses('up', 'up').text, 'a draft|');
});

t.test('Up moves within a history entry once the cursor has moved in it', async (t) => {
  const person = new Person(['older', 'one\ntwo']).presses('up');
  t.equal(person.text, 'one\ntwo|');
  t.equal(person.presses('left', 'up').text, 'on|e\ntwo');
  t.equal(person.presses('up').text, 'older|', 'from the first row the next older one comes');
  t.equal(person.presses('down', 'home', 'types').presses('left').text, 'one|\ntwo');
});

t.test('Ctrl+C clears the text, and Up restores it', async (t) => {
  const person = new Person().types('long thought').presses('ctrl+c');
  t.equal(person.text, '|');
  t.match(person.composer.notice, /Up brings it back/);
  t.strictSame(person.effects, []);
  t.equal(person.presses('up').text, 'long thought|');
});

t.test('the history stores a repeated message once and skips white space', async (t) => {
  const person = new Person(['same', '  ', '\n'])
    .types('same')
    .presses('enter')
    .types('   ')
    .presses('ctrl+c');
  t.equal(person.composer.history.entries.length, 1);
});

t.test('history from the transcript has no control characters and keeps the newest messages', async (t) => {
  const many = Array.from({ length: historyLimits.entries + 5 }, (_, index) => `message ${index}\x1b[2J`);
  const { history } = new Person(many).composer;
  t.equal(history.entries.length, historyLimits.entries);
  t.equal(history.entries[0]?.text, 'message 5[2J');
  t.equal(history.at, historyLimits.entries);
});

t.test('Ctrl+R finds the newest match first, and Enter accepts it without sending', async (t) => {
  const person = new Person(['fix the Price', 'add a test', 'price again']).types('draft').presses('ctrl+r');
  t.strictSame(person.screen(), ['> draft', 'search:   type words of a message']);
  t.strictSame(person.types('price').screen(), ['> price again', 'search: price']);
  t.strictSame(person.presses('ctrl+r').screen(), ['> fix the Price', 'search: price']);
  t.strictSame(person.presses('ctrl+r').screen(), ['> fix the Price', 'search: price  nothing older']);
  t.equal(person.presses('enter').text, 'fix the Price|');
  t.strictSame(person.effects, []);
  t.equal(person.presses('down', 'down', 'down').text, 'draft|', 'what was written before is further down');
});

t.test('Esc, Ctrl+C and Ctrl+G leave a search with the text unchanged', async (t) => {
  for (const chord of ['escape', 'ctrl+c', 'ctrl+g']) {
    const person = new Person(['other'])
      .types('my text')
      .presses('left', 'ctrl+r')
      .types('oth')
      .presses(chord);
    t.equal(person.text, 'my tex|t', chord);
    t.strictSame(person.effects, []);
  }
});

t.test('a search without a match says so, and Backspace searches again', async (t) => {
  const person = new Person(['abc']).presses('ctrl+r').types('abx');
  t.strictSame(person.screen(), ['> ', 'search: abx  nothing older']);
  t.strictSame(person.presses('backspace').screen(), ['> abc', 'search: ab']);
  t.strictSame(person.presses('backspace', 'backspace').screen(), [
    '> ',
    'search:   type words of a message',
  ]);
});

t.test('any other key accepts the match and then has its usual effect', async (t) => {
  const person = new Person(['abc']).presses('ctrl+r').types('b').presses('left');
  t.equal(person.text, 'ab|c');
  const pasting = new Person(['abc']).types('x').presses('ctrl+r').types('b').pastes('two\nlines');
  t.equal(
    pasting.text,
    'xtwo\nlines|',
    'a paste of lines is no word to search for: it goes where it was meant',
  );
});

t.test('a search that finds an edited history entry keeps both versions', async (t) => {
  const person = new Person(['older', 'fix it']).presses('up').types(' well').presses('ctrl+r').types('fix');
  t.equal(person.presses('enter').text, 'fix it|');
  t.equal(person.presses('down').text, 'fix it well|');
  const away = new Person(['older', 'fix it'])
    .presses('up')
    .types(' well')
    .presses('home', 'up', 'ctrl+r')
    .types('fix');
  t.equal(away.presses('enter').text, 'fix it|', 'what is taken is what was shown');
  t.ok(away.composer.history.entries.some(({ text }) => text === 'fix it well'));
});
