import { inspect } from 'node:util';
import t from 'tap';
import { textOf } from '../../../../session/screen/line.ts';
import { openSecretLine, type SecretEffect } from '../../../../session/tui/composer/edit-keys.ts';
import type { Key } from '../../../../session/tui/term/painter.ts';
import { keyOf } from './person.ts';

function typing(...keys: readonly (Key | string)[]) {
  let line = openSecretLine();
  const effects: SecretEffect[] = [];
  for (const key of keys) {
    const outcome = line.press(typeof key === 'string' ? keyOf(key) : key);
    line = outcome.line;
    effects.push(...outcome.effects);
  }
  return { line, effects };
}
const text = (said: string): Key => ({ type: 'text', text: said });

t.test('a secret is answered as typed and cannot be recalled afterwards', async (t) => {
  const { line, effects } = typing(text('hunter2'), { type: 'paste', text: 'XY\n' }, 'enter');
  t.strictSame(effects, [{ type: 'answer', text: 'hunter2XY' }]);
  t.equal(textOf(line.draw()), 'nothing typed');
  t.strictSame(line.press(keyOf('ctrl+y')).effects, []);
  t.equal(textOf(line.press(keyOf('up')).line.draw()), 'nothing typed', 'no key brings it back');
});

t.test('a secret is never drawn, printed or serialised, and its length is hidden', async (t) => {
  const { line } = typing(text('correct horse battery staple'));
  t.equal(textOf(line.draw()), '••••••••');
  t.equal(textOf(typing(text('ab')).line.draw()), '••');
  for (const shown of [
    inspect(line, { depth: 9, showHidden: true }),
    JSON.stringify(line),
    JSON.stringify(line.draw()),
  ])
    t.notMatch(shown, /horse/);
});

t.test('deleted characters are not answered, and leaving a secret answers nothing', async (t) => {
  t.strictSame(typing(text('abc'), 'backspace', text('d'), 'enter').effects, [
    { type: 'answer', text: 'abd' },
  ]);
  t.strictSame(typing(text('abc'), 'ctrl+u', 'ctrl+y', 'enter').effects, [], 'an empty one is none');
  for (const chord of ['escape', 'ctrl+c', 'ctrl+d']) {
    const { line, effects } = typing(text('abc'), chord);
    t.strictSame(effects, [{ type: 'leave' }]);
    t.equal(textOf(line.draw()), 'nothing typed');
  }
});

t.test('a secret of several lines is pasted whole, and one that is too long is dropped', async (t) => {
  t.strictSame(typing({ type: 'paste', text: 'a\nb\n' }, 'enter').effects, [
    { type: 'answer', text: 'a\nb' },
  ]);
  t.strictSame(typing(text('a'), { type: 'paste', text: 'x'.repeat(65_536) }, 'enter').effects, [
    { type: 'answer', text: 'a' },
  ]);
});
