import t from 'tap';
import { textOf } from '../../../../session/screen/line.ts';
import { cellsOf } from '../../../../session/screen/wrap.ts';
import { drawComposer } from '../../../../session/tui/composer/draw-composer.ts';
import { Person } from './person.ts';

const draw = (person: Person, rows = 10) =>
  drawComposer(person.composer, { columns: person.context.columns, rows });
const cursorOf = (person: Person, rows = 10) => {
  const { row, column } = draw(person, rows).cursor;
  return [row, column];
};

t.test('an empty composer is a prompt followed by the cursor', async (t) => {
  t.strictSame(draw(new Person()), {
    lines: [[{ text: '> ', tone: 'accent' }]],
    cursor: { row: 0, column: 2 },
  });
});

t.test('text wraps between words, and the cursor is drawn at its position in the text', async (t) => {
  const person = new Person([], { columns: 13 }).types('one two three');
  t.strictSame(person.screen(), ['> one two ', '  three']);
  t.strictSame(cursorOf(person), [1, 7]);
  t.strictSame(cursorOf(person.presses(...Array.from({ length: 5 }, () => 'left'))), [1, 2]);
  t.strictSame(cursorOf(person.presses('left')), [0, 9]);
});

t.test('a word that is longer than a row is split, and the cursor fits on a full row', async (t) => {
  const person = new Person([], { columns: 13 }).types('0123456789');
  t.strictSame(person.screen(), ['> 0123456789']);
  t.strictSame(cursorOf(person), [0, 12]);
  t.strictSame(person.types('a').screen(), ['> 0123456789', '  a']);
  person.presses('backspace').types(' ');
  t.strictSame(cursorOf(person), [1, 2], 'a space behind a full row hangs over');
});

t.test('wide and joined characters use as many cells as in a terminal', async (t) => {
  const person = new Person([], { columns: 13 }).pastes('漢字漢字漢a漢e\u0301👩‍👩‍👧');
  t.strictSame(person.screen(), ['> 漢字漢字漢', '  a漢e\u0301👩‍👩‍👧']);
  t.strictSame(cursorOf(person), [1, 8]);
});

t.test('a long text scrolls with the cursor, and arrows mark hidden rows', async (t) => {
  const person = new Person().pastes(Array.from({ length: 9 }, (_, index) => `line ${index}`).join('\n'));
  t.strictSame(person.screen(3), ['↑ line 6', '  line 7', '  line 8']);
  person.presses('up', 'up', 'up', 'up');
  t.strictSame(person.screen(3), ['↑ line 3', '  line 4', '↓ line 5']);
  t.strictSame(cursorOf(person, 3), [1, 8]);
  t.strictSame(person.screen(1), ['↕ line 4']);
  t.strictSame(person.presses('ctrl+home').screen(3), ['> line 0', '  line 1', '↓ line 2']);
});

t.test('control and bidirectional characters are escaped when drawn', async (t) => {
  const person = new Person().pastes('a\tb\u202ec\u2028d');
  t.strictSame(person.screen(), ['> a    b\\u{202e}c\\u{2028}d']);
  t.equal(person.whole, 'a\tb\u202ec\u2028d', 'the text stays what it is');
});

t.test('the composer never draws wider than its columns or higher than its rows', async (t) => {
  for (let columns = 1; columns < 30; columns += 1) {
    for (let rows = 1; rows < 12; rows += 1) {
      const person = new Person([], { columns, busy: true })
        .types('waits for long')
        .presses('tab')
        .types('漢 a\t👩‍👩‍👧 bc');
      person.presses('alt+enter').pastes('x'.repeat(2000)).presses('ctrl+x');
      for (const shown of [
        person,
        new Person(['hello'], { columns }).types('/'),
        new Person(['hello'], { columns }).presses('ctrl+r').types('hel'),
      ]) {
        const { lines, cursor } = draw(shown, rows);
        const widest = Math.max(...lines.map((line) => cellsOf(textOf(line))));
        if (widest > columns || lines.length > rows)
          t.fail(`${widest} x ${lines.length} at ${columns} x ${rows}`);
        if (cursor.column >= columns || cursor.row >= lines.length)
          t.fail(`the cursor is outside at ${columns} x ${rows}`);
      }
    }
  }
});

t.test('a line of thousands of characters wraps between words', async (t) => {
  const person = new Person([], { columns: 53 }).pastes('漢字 '.repeat(3000)).presses('ctrl+o');
  t.equal(person.whole.length, 9000);
  t.strictSame(person.screen(3).slice(1), [`  ${'漢字 '.repeat(10)}`, `  ${'漢字 '.repeat(10)}`]);
  for (let count = 0; count < 40; count += 1) person.presses('up');
  const { lines } = draw(person, 5);
  t.ok(
    lines.every((line) => textOf(line).endsWith('漢字 ')),
    'rows end between words',
  );
});
