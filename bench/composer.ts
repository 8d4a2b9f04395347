/*
 * `npm run bench:composer`: how long the composer of a terminal takes, drawing included, for a paste of 1 MB, for keys in
 * 1 MB of text, and for a search through 10,000 messages. Exit 1 where one is beyond its limit.
 */
import { performance } from 'node:perf_hooks';
import { drawComposer } from '../session/tui/composer/draw-composer.ts';
import { Person } from '../test/session/tui/composer/person.ts';
import { figure, median, printTable } from './measure.ts';
import { sized } from './sized.ts';

const rounds = sized(20, 1);
const characters = sized(1024 * 1024, 10_000);
const texts: Readonly<Record<string, string>> = {
  lines: 'some words of a line of text\n',
  'one line': 'some words of a line of text ',
  'wide signs': '漢字仮名交じり文',
  'joined signs': '👩‍👩‍👧🇩🇪e\u0301 ',
};
const keys = [
  'x',
  'left',
  'up',
  'down',
  'alt+b',
  'backspace',
  'ctrl+w',
  'ctrl+_',
  'ctrl+a',
  'ctrl+e',
  'page-up',
];

function timed(person: Person, act: () => void): number {
  const started = performance.now();
  act();
  drawComposer(person.composer, { columns: 80, rows: 20 });
  return performance.now() - started;
}

/** What 95 of 100 stay below. */
function nearlyAll(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * 0.95)] ?? Number.NaN;
}

const held: boolean[] = [];
for (const [name, piece] of Object.entries(texts)) {
  const text = piece.repeat(Math.ceil(characters / piece.length));
  const pasted: number[] = [];
  const keyed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const person = new Person();
    pasted.push(timed(person, () => person.pastes(text)));
    // Opened, half of it behind the cursor: from there each key is one in a text of 1 MB.
    person.presses('ctrl+o', 'ctrl+home', ...Array.from({ length: 20 }, () => 'page-down'));
    for (const key of keys) keyed.push(timed(person, () => person.does(key)));
  }
  const detail = `${rounds} rounds`;
  held.push(figure(`paste 1 MB, ${name}`, median(pasted), 50, 'ms', detail));
  held.push(figure(`a key in 1 MB, ${name}, median`, median(keyed), 16, 'ms', detail));
  held.push(figure(`a key in 1 MB, ${name}, 95 of 100`, nearlyAll(keyed), 16, 'ms', detail));
}

const messages = Array.from({ length: sized(10_000, 100) }, (_, index) => `message ${index} `.repeat(30));
const searched: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const person = new Person(messages).presses('ctrl+r');
  for (const letter of 'message 17 is nowhere') searched.push(timed(person, () => person.types(letter)));
}
held.push(figure('a letter of a search in 10,000 messages', nearlyAll(searched), 16, 'ms', '95 of 100'));
printTable();
process.exit(held.every(Boolean) ? 0 : 1);
