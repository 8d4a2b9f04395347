import t from 'tap';
import { long } from '../rooms/long.ts';
import { compiledPages } from './compiled-pages.ts';
import { runTo } from './packed-package.ts';

t.setTimeout(300_000);

/** What is wrong with each broken log, and the promise that the tester says is not kept. */
const promises: Readonly<Record<string, string>> = {
  'another mode': 'a new log is empty and bears its name',
  'two things to pin': 'a verifier has one thing to pin: a key or a trusted root',
  'a path to nowhere': 'an entry is proven to be in the log, and no other is',
  'a checkpoint of a stranger': 'a checkpoint that verifies says what the proof says',
  'an entry of its own': 'the entry that is proven is about what was handed in',
  'proves nothing of how it grew':
    'a log that proves how it grew proves it of any two sizes, and of no other tree',
  'proves what it has not': 'a log that proves how it grew proves it of any two sizes, and of no other tree',
  forgets: 'entries follow one another, and stay when the log is opened again',
  'one place for two': 'entries that come at once are each there',
  'appends what is there': 'an entry that may have been appended before is there once',
  'keeps one': 'there is no log, however often it is opened',
};

long(
  'a third-party log that keeps every promise passes, and each broken one is named by the promise that it breaks',
  async (t) => {
    const { directory } = compiledPages();
    const { out, err } = runTo(process.execPath, ['built/try-testers.js'], directory);
    if (out === '') throw new Error(err);
    const { memory: passed, ...refused } = JSON.parse(out) as Readonly<Record<string, string>>;
    t.equal(passed, 'passed');
    t.strictSame(Object.keys(refused).sort(), Object.keys(promises).sort());
    for (const [name, sentence] of Object.entries(promises)) {
      const said = refused[name] ?? '';
      t.match(said, /^AssertionError: /, name);
      t.ok(said.includes(`case \`${sentence}\``), `${name}: ${said}`);
    }
  },
);
