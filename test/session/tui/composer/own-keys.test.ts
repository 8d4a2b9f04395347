import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { textOf } from '../../../../session/screen/line.ts';
import { readKeymap } from '../../../../session/tui/composer/own-keys.ts';
import { keyLines } from '../../../../session/tui/local-commands.ts';
import { long } from '../../../rooms/long.ts';
import { openCodeScene } from '../open-code-scene.ts';
import { noPty } from '../open-terminal-scene.ts';
import { Person } from './person.ts';

const vim = { own: { isVim: true, map: new Map() } };

t.test('vim keys move and change the text', async (t) => {
  // The text, the keys after Escape and `0`, and what is written then.
  const cases: readonly (readonly [text: string, keys: string, result: string])[] = [
    ['one two.three', 'w', 'one |two.three'],
    ['one two.three', '2w', 'one two|.three'],
    ['one two.three', 'e', 'on|e two.three'],
    ['one two.three', '3e', 'one two|.three'],
    ['one two.three', '$', 'one two.thre|e'],
    ['one two.three', '$bb', 'one two|.three'],
    ['one two', '3lhx', 'on| two'],
    ['one two', '2x', '|e two'],
    ['one two', 'dw', '|two'],
    ['one two', 'd2w', '|'],
    ['one two', 'de', '| two'],
    ['one two', 'd$', '|'],
    ['one two', '$db', 'one |o'],
    ['one two', 'wD', 'one| '],
    ['one two', 'wC3', 'one 3|'],
    ['one two', 'cwsix', 'six| two'],
    ['one two', 'wcw2', 'one 2|'],
    ['one two', 'ccx', 'x|'],
    ['one two', 'ddp', '\n|one two'],
    ['one', 'yyp', 'one\n|one'],
    ['one two', 'ywwP', 'one |two'],
    ['one two', 'yw$p', 'one twoone| '],
    ['one', 'ix', 'x|one'],
    ['one', 'ax', 'ox|ne'],
    ['  one', 'Ix', '  x|one'],
    ['one', 'Ax', 'onex|'],
    ['one', 'ox', 'one\nx|'],
    ['one', 'Ox', 'x|\none'],
    ['one two', 'dwu', '|one two'],
    ['one two', 'xu', '|one two'],
    ['one', 'zqx', '|ne'],
    ['one', 'dzx', '|ne'],
    ['one two', '99x', '|'],
    ['日本 e\u0301x', 'wx', '日本 |x'],
  ];
  for (const [text, keys, result] of cases) {
    const person = new Person([], vim).types(text).presses('escape').types('0').types(keys);
    t.equal(person.text, result, `${JSON.stringify(text)} ${keys}`);
  }
  const lines = new Person([], vim).pastes('one\ntwo\nthree').presses('escape').types('k');
  t.equal(lines.types('dd').text, 'one\n|three');
  t.equal(lines.types('k').types('p').text, 'one\n|two\nthree');
  t.equal(lines.types('2').types('dd').text, '|one');
  t.equal(lines.types('0j').text, 'on|e', 'on the last line it goes to the end, and no further');
});

t.test('Escape changes the mode first, and then does what it always does', async (t) => {
  const person = new Person([], { ...vim, busy: true }).types('go');
  t.strictSame(person.presses('escape').effects, []);
  t.match(person.screen()[0], /^: go/);
  t.strictSame(person.types('d').presses('escape').effects, [], 'it ends a command that is not complete');
  t.equal(person.types('x').whole, 'g');
  t.strictSame(person.presses('escape').effects, [{ type: 'interrupt' }]);
  const other = new Person([], vim).types('go').presses('escape', 'enter');
  t.strictSame(other.effects, [{ type: 'submit', text: 'go' }]);
  t.equal(other.types('next').whole, 'next', 'a new message begins in the insert mode');
  t.equal(new Person().types('x').presses('escape').types('x').whole, 'xx', 'without vim nothing changes');
});

t.test('a keymap leads keys to actions, and refuses what is unknown or given twice', async (t) => {
  const refused: string[] = [];
  const refuse = (action: string, why: string) => refused.push(`${action}: ${why}`);
  const map = readKeymap(
    { 'new-line': ['enter'], send: ['Ctrl+S', 'alt+s'], 'line-start': ['ctrl+e'] },
    refuse,
  );
  t.strictSame(refused, []);
  const own = { isVim: false, map };
  const person = new Person([], { own }).types('one').presses('enter').types('two');
  t.equal(person.whole, 'one\ntwo');
  t.equal(person.presses('ctrl+e').text, 'one\n|two', 'a key that was another one before');
  t.strictSame(person.presses('ctrl+s').effects, [{ type: 'submit', text: 'one\ntwo' }]);
  const shown = keyLines(80, own).map(textOf).join('\n');
  t.match(shown, /ctrl\+s +yours: send/);
  readKeymap({ sent: ['ctrl+s'] }, refuse);
  readKeymap({ send: ['ctrl+s'], redo: ['ctrl+s'] }, refuse);
  readKeymap({ send: ['entr', 'x', 'ctrl+c', 'ctrl+i', 'ctrl+shift+s'] }, refuse);
  t.strictSame(refused, [
    'sent: unknown action; did you mean `send`?',
    'redo: `ctrl+s` is already the key of `send`',
    'send: `entr`: unknown key; did you mean `enter`?',
    'send: `x`: it types a character; add `ctrl+` or `alt+`',
    'send: `ctrl+c`: this key always clears, interrupts and quits',
    'send: `ctrl+i`: a terminal sends `tab` for it',
    'send: `ctrl+shift+s`: a terminal does not report `shift` with a character',
  ]);
});

long('a screen has the theme and the keys of the user', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([]);
  const directory = join(code.sample.root, '..', 'home', '.config', 'writ');
  const write = (text: string) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, 'config.toml'), text, { mode: 0o600 });
  };
  write('[screen]\ntheme = "dark"\n[keys]\nmode = "vim"\nsend = ["alt+s"]\n');
  {
    await using scene = code.start();
    await scene.until('you steer');
    scene.type('/keys');
    scene.press('escape');
    scene.press('escape');
    await scene.until(': /keys');
    scene.press('alt+s');
    await scene.until(/alt\+s +yours: send/);
  }
  write('[screen]\ntheme = "darc"\n[keys]\nsent = ["alt+s"]\n');
  await using scene = code.start();
  await scene.until(/expected one of auto, light, dark, high-contrast/);
  t.match(scene.lines().join('\n'), 'config.toml');
});
