import t from 'tap';
import { drawComposer } from '../../../../session/tui/composer/draw-composer.ts';
import { cpuTime } from '../../../waiting/cpu-time.ts';
import { Person } from './person.ts';

/** Milliseconds of processor time of the middle one of several, drawn: a busy machine makes single ones slow. */
function middle(person: Person, acts: readonly (() => void)[]): number {
  const times = acts.map((act) => {
    const spent = cpuTime();
    act();
    drawComposer(person.composer, { columns: 80, rows: 20 });
    return spent();
  });
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

const texts = {
  lines: 'some words of a line of text\n',
  'one line': 'some words of a line of text ',
  'wide signs': '漢字仮名交じり文',
  'joined signs': '👩‍👩‍👧🇩🇪e\u0301 ',
  'one sign of marks': '\u0301',
  'white space': ' ',
};

for (const [name, piece] of Object.entries(texts)) {
  t.test(`a megabyte is pasted, opened and edited without a wait: ${name}`, async (t) => {
    const text = `a${piece.repeat(Math.ceil((1024 * 1024) / piece.length))}`;
    const people = Array.from({ length: 5 }, () => new Person());
    const pastes = people.map((person) => () => void person.pastes(text));
    const paste = middle(people[0] ?? new Person(), pastes);
    t.ok(paste < 50, `${paste.toFixed(1)} ms for the paste`);
    const person = new Person().pastes(text).presses('ctrl+o', 'ctrl+home', 'page-down', 'page-down');
    const chords = [
      'x',
      'left',
      'up',
      'alt+b',
      'down',
      'backspace',
      'ctrl+a',
      'ctrl+e',
      'page-up',
      'ctrl+_',
      'x',
    ];
    const key = middle(
      person,
      chords.map((chord) => () => void person.does(chord)),
    );
    // Quadratic work would take seconds; the bench holds the figure of an idle machine.
    t.ok(key < 60, `${key.toFixed(1)} ms for a key`);
    t.equal(person.whole.length, text.length + 2, 'all of that was done');
  });
}

t.test('a search through 10,000 messages follows the letters', async (t) => {
  const person = new Person(Array.from({ length: 10_000 }, (_, index) => `message ${index} `.repeat(30)));
  person.presses('ctrl+r');
  const letter = middle(
    person,
    [...'message 17 is nowhere'].map((one) => () => void person.types(one)),
  );
  t.ok(letter < 60, `${letter.toFixed(1)} ms for a letter`);
  t.match(person.screen().at(-1), /nothing older/);
});
