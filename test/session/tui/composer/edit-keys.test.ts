import t from 'tap';
import { Person } from './person.ts';

t.test('the cursor moves by whole graphemes', async (t) => {
  const person = new Person().types('a漢👩‍👩‍👧e\u0301');
  for (const expected of [
    'a漢👩‍👩‍👧|e\u0301',
    'a漢|👩‍👩‍👧e\u0301',
    'a|漢👩‍👩‍👧e\u0301',
    '|a漢👩‍👩‍👧e\u0301',
    '|a漢👩‍👩‍👧e\u0301',
  ])
    t.equal(person.presses('left').text, expected);
  t.equal(person.presses('right', 'right', 'ctrl+f').text, 'a漢👩‍👩‍👧|e\u0301');
  t.equal(person.presses('backspace').text, 'a漢|e\u0301');
  t.equal(person.presses('delete').text, 'a漢|');
  t.equal(person.presses('delete', 'ctrl+b', 'ctrl+h').text, '|漢');
});

t.test('the cursor never splits a grapheme that was typed in parts', async (t) => {
  const person = new Person().types('e').types('\u0301');
  t.equal(person.presses('left').text, '|e\u0301');
  person.types('x').presses('delete').types('a');
  t.equal(person.text, 'xa|');
  t.equal(person.presses('home').pastes('\u0301').text, '\u0301|xa');
});

t.test('single keys move by word, by line and over the whole text', async (t) => {
  const person = new Person().pastes('one two-three\nfour  fünf');
  for (const expected of [
    'one two-three\nfour  |fünf',
    'one two-three\n|four  fünf',
    'one two-|three\nfour  fünf',
  ])
    t.equal(person.presses('alt+b').text, expected);
  t.equal(person.presses('ctrl+left', 'ctrl+a').text, '|one two-three\nfour  fünf');
  t.equal(person.presses('alt+f').text, 'one| two-three\nfour  fünf');
  t.equal(person.presses('ctrl+right', 'alt+right').text, 'one two-three|\nfour  fünf');
  t.equal(person.presses('ctrl+e', 'right', 'end').text, 'one two-three\nfour  fünf|');
  t.equal(person.presses('ctrl+home').text, '|one two-three\nfour  fünf');
  t.equal(person.presses('ctrl+end').text, 'one two-three\nfour  fünf|');
});

t.test('yank inserts killed text, and consecutive kills are joined', async (t) => {
  const person = new Person().types('make it exact');
  t.equal(person.presses('ctrl+w', 'ctrl+w').text, 'make |');
  t.equal(person.presses('ctrl+y').text, 'make it exact|');
  t.equal(person.presses('ctrl+a', 'ctrl+k').text, '|');
  t.equal(person.presses('ctrl+y', 'ctrl+y').text, 'make it exactmake it exact|');
  t.equal(person.presses('ctrl+u').text, '|');
  person.pastes('one\ntwo').presses('ctrl+u', 'ctrl+u');
  t.equal(person.text, 'one|', 'at the start of a line its line end goes');
  t.equal(person.presses('home', 'alt+d').text, '|');
  t.equal(person.types('a b.c').presses('alt+backspace').text, 'a b.|');
});

t.test('undo reverts words, kills and pastes one by one, and redo restores them', async (t) => {
  const person = new Person().types('make it').pastes(' exact').presses('ctrl+w');
  t.equal(person.text, 'make it |');
  for (const expected of ['make it exact|', 'make it|', 'make|', '|', '|'])
    t.equal(person.presses('ctrl+_').text, expected);
  for (const expected of ['make|', 'make it|', 'make it exact|', 'make it |', 'make it |'])
    t.equal(person.presses('alt+_').text, expected);
  t.equal(
    person.presses('ctrl+-').types('!').presses('alt+_').text,
    'make it exact!|',
    'new text ends what can be redone',
  );
});

t.test('Alt+Enter, Shift+Enter, Ctrl+J and a backslash before Enter begin a new line', async (t) => {
  const person = new Person()
    .types('a')
    .presses('alt+enter')
    .types('b')
    .presses('ctrl+j')
    .types('c\\')
    .presses('enter')
    .types('d');
  t.equal(person.presses('shift+enter').text, 'a\nb\nc\nd\n|');
  t.strictSame(person.effects, []);
});

t.test('Up and Down move over wrapped rows and keep the column', async (t) => {
  const person = new Person([], { columns: 23 }).pastes('a long line of twenty and more\nx\nlast line');
  t.strictSame(person.screen(), ['> a long line of ', '  twenty and more', '  x', '  last line']);
  t.equal(person.presses('up').text, 'a long line of twenty and more\nx|\nlast line');
  t.equal(person.presses('up').text, 'a long line of twenty an|d more\nx\nlast line');
  t.equal(person.presses('up').text, 'a long li|ne of twenty and more\nx\nlast line');
  t.equal(person.presses('down', 'down', 'down').text, 'a long line of twenty and more\nx\nlast line|');
});

t.test('vertical moves count columns in cells, with two for a wide character', async (t) => {
  const person = new Person().pastes('漢字漢字\nabcd').presses('left', 'up');
  t.equal(person.text, '漢|字漢字\nabcd');
  t.equal(person.presses('down').text, '漢字漢字\nabc|d', 'the column stays the one that was left');
});

t.test('pasted text loses control characters and lone surrogates', async (t) => {
  const person = new Person().pastes('a\x1b[31mb\r\nc\rd\te\ud800f\x9b');
  t.equal(person.text, 'a[31mb\nc\nd\te\ufffdf|');
});

t.test('a long paste is folded, deleted as one, unfolded by a key and sent whole', async (t) => {
  const lines = Array.from({ length: 1024 }, (_, index) => `line ${index}`).join('\n');
  const person = new Person().types('read ').pastes(lines).types(' well');
  t.strictSame(person.screen(), ['> read [pasted 1,024 lines] well']);
  t.equal(person.whole, `read ${lines} well`);
  person.presses('alt+b', 'left', 'backspace');
  t.equal(person.text, 'read | well');
  person.presses('ctrl+_', 'ctrl+o');
  t.equal(person.text, `read ${lines}| well`);
  t.equal(person.presses('ctrl+_').presses('enter').effects[0]?.type, 'submit');
  t.equal(person.presses('up').whole, `read ${lines} well`, 'and comes back whole');
  t.strictSame(person.screen(), ['> read [pasted 1,024 lines] well']);
});

t.test('a paste with many characters is folded too, and each fold keeps its own text', async (t) => {
  const person = new Person().pastes('x'.repeat(2000)).pastes('y'.repeat(3000)).types('🐀');
  t.strictSame(person.screen(), ['> [pasted 2,000 characters][pasted 3,000 characters]🐀']);
  const pasted = `${'x'.repeat(2000)}${'y'.repeat(3000)}🐀`;
  t.ok(person.presses('ctrl+a', 'ctrl+o').whole === pasted);
  t.equal(person.composer.buffer.cursor, 2000);
  t.ok(person.presses('ctrl+u', 'ctrl+k', 'ctrl+y').whole === pasted);
  t.ok(person.presses('ctrl+c').types('again ').presses('ctrl+y').whole === `again ${pasted}`);
});

t.test('a paste beyond the limit of the composer is refused and changes nothing', async (t) => {
  const person = new Person().types('kept').pastes('x'.repeat(4 * 1024 * 1024));
  t.equal(person.text, 'kept|');
  t.match(person.composer.notice, /^too much/);
  for (let round = 0; round < 9; round += 1) person.pastes('x'.repeat(1024 * 1024)).presses('ctrl+c');
  t.equal(person.pastes('y').text, 'y|', 'what was cleared takes no room');
});

t.test('a paste that was cut by the limit reports the missing octets', async (t) => {
  const person = new Person().hits({ type: 'paste', text: 'begun', dropped: 12_345 });
  t.strictSame(person.screen(), ['> begun', 'the paste was too long: its last 12,345 octets are missing']);
});
