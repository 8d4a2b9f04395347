import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { unifiedLines, writtenChange } from '../../../session/approvals/written-change.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { runProgram } from '../../starter/run-program.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const secret = 'hunter2-hunter2';
const mask = (text: string): string => text.replaceAll(secret, '[masked]').replaceAll('a\nb', '[two lines]');

t.test('git applies the hunks of a change with the expected result', async (t) => {
  const chance = seededRandom(toldSeed(t));
  const root = t.testdir({});
  for (let round = 0; round < 25; round += 1) {
    const lines = Array.from(
      { length: Math.floor(chance() * 40) },
      () => `line ${Math.floor(chance() * 9)}\n`,
    );
    const before = lines.join('') + (chance() < 0.3 ? 'no end' : '');
    const changed = lines.flatMap((line) => {
      const draw = chance();
      return draw < 0.08 ? [] : draw < 0.16 ? [line, `new ${round}\n`] : [line];
    });
    const after = changed.join('') + (chance() < 0.3 ? 'another end' : '');
    const diff = unifiedLines(before, after);
    if (before === after) t.strictSame(diff, []);
    if (before === after || before === '' || after === '') continue;
    const at = join(root, `${round}`);
    mkdirSync(at);
    writeFileSync(join(at, 'f'), before);
    const patch = `--- a/f\n+++ b/f\n${diff.join('\n')}\n`;
    const end = runProgram('git', ['apply', '-'], { cwd: at, input: patch });
    t.equal(end.status, 0, `${end.stderr}\n${patch}`);
    t.equal(readFileSync(join(at, 'f'), 'utf8'), after);
  }
  // Too much to be compared line by line: all of it is one change, and still the right one.
  const many = Array.from({ length: 1500 }, (_, at) => `a${at}\n`);
  const diff = unifiedLines(many.join(''), many.toReversed().join(''));
  t.equal(diff[0], '@@ -1,1500 +1,1500 @@');
  t.equal(diff.length, 3001);
});

t.test(
  'a shown change is masked, visible and limited in size, and binary content is only noted',
  async (t) => {
    const told = (before: string | undefined, after: string | undefined) =>
      writtenChange(
        {
          ...(before === undefined ? {} : { before: bytes(before) }),
          ...(after === undefined ? {} : { after: bytes(after) }),
        },
        mask,
      );
    t.match(told(undefined, 'one\n'), { changeType: 'add', diff: '@@ -0,0 +1,1 @@\n+one' });
    t.match(told('one\n', undefined), { changeType: 'delete', diff: '@@ -1,1 +0,0 @@\n-one' });
    t.match(told('x\n', 'x'), { diff: /-x\n\+x\n\\ No newline/ }, 'a line end is a change');
    const hostile = told('', `key = ${secret}\nx = '\u202e'; \u001b[2J\r\na\nb\n`);
    t.notMatch(hostile.diff, secret);
    t.match(hostile.diff, '+[two lines]', 'what stands over several lines is masked, too');
    t.match(hostile.diff, "+x = '\\u{202e}'; \\u{1b}[2J\\u{d}");
    t.match(told(secret, '[masked]'), { note: /masked/ });
    t.match(told('same', 'same'), { note: 'nothing differs' });
    t.match(told(undefined, ''), { changeType: 'add', note: 'an empty file' });
    t.match(told('', undefined), { changeType: 'delete', note: 'the file was empty' });
    t.match(told('text', 'bin\0ary'), { note: 'not text: 4 bytes before, now 7 bytes' });
    t.match(writtenChange({ unseen: '9 bytes are too many' }, mask), { note: '9 bytes are too many' });
    const long = told('', `${'x'.repeat(1_000_000)}\n${'y\n'.repeat(9_000)}`);
    t.ok((long.diff ?? '').length < 9_000);
    t.match(long.note, 'cut behind 400', 'of a line that is cut nobody is told that it is all');
    t.equal(told('', `${'x'.repeat(400)}\n`).note, undefined);
    t.equal((long.diff ?? '').split('\n').length + (long.unshown ?? 0), 9_002);
  },
);
