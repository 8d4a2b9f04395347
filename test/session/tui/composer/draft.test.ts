import t from 'tap';
import { draftOf, emptyComposer, unsentOf, withDraft } from '../../../../session/tui/composer/composer.ts';
import { Person } from './person.ts';

t.test('a draft keeps unsent text but not messages of the transcript', (t) => {
  const person = new Person(['said']);
  person
    .types('cleared')
    .presses('ctrl+c')
    .types('/status')
    .presses('enter')
    .types('killed')
    .presses('ctrl+u');
  person.context = { ...person.context, busy: true };
  person.types('waits').presses('enter').types('half a');
  t.same(draftOf(person.composer, ['said']), {
    unsent: ['waits', 'half a'],
    typed: ['cleared', '/status', 'waits', 'killed'],
  });
  t.end();
});

t.test('a draft keeps an edited history entry, but not one that was only viewed', (t) => {
  const person = new Person(['said']);
  person.types('half').presses('up');
  t.same(unsentOf(person.composer), ['half']);
  person.types('!');
  t.same(unsentOf(person.composer), ['half', 'said!']);
  t.end();
});

t.test('an unsent draft is restored into the text without being sent', (t) => {
  const again = new Person();
  again.types('and');
  again.composer = withDraft(again.composer, ['said'], {
    unsent: ['one', 'two\x1b[2J'],
    typed: ['cleared'],
  });
  t.equal(again.whole, 'one\ntwo[2J\nand');
  t.same(again.composer.queue, []);
  t.match(again.composer.notice, /not sent/);
  again.presses('ctrl+c', 'up', 'up');
  t.equal(again.whole, 'cleared');
  again.presses('up');
  t.equal(again.whole, 'said');
  t.equal(withDraft(emptyComposer, [], undefined).buffer.text, '');
  t.end();
});

t.test('a draft keeps the newest fifty typed texts', (t) => {
  const person = new Person();
  for (let count = 0; count < 60; count += 1) person.types(`${count}.`).presses('ctrl+c');
  const { typed } = draftOf(person.composer, []);
  t.equal(typed.length, 50);
  t.equal(typed.at(-1), '59.');
  t.end();
});
