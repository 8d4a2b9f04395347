import { Readable } from 'node:stream';
import t from 'tap';
import { promptsLocalChanges } from '../../../bin/command-parts/change-source.ts';

t.test('the question about local changes accepts numbers, names and their first letters', async (t) => {
  const ask = async (...lines: string[]) => {
    const said: string[] = [];
    const { askLocalChanges } = promptsLocalChanges({
      interactive: true,
      print: { complain: (text: string) => said.push(text) } as never,
      stdin: Readable.from(lines.map((line) => `${line}\n`)) as never,
      signal: new AbortController().signal,
    });
    const choice = await askLocalChanges?.([{ path: 'a.txt', reason: 'changed' } as never]);
    return { choice, asked: said.filter((text) => text.startsWith('type 1 to include')).length };
  };
  for (const [said, choice] of [
    ['1', 'include'],
    ['i', 'include'],
    ['Include', 'include'],
    [' 2 ', 'set-aside'],
    ['se', 'set-aside'],
    ['set aside', 'set-aside'],
    ['set-aside', 'set-aside'],
    ['3', 'stop'],
    ['st', 'stop'],
  ] as const)
    t.strictSame(await ask(said), { choice, asked: 1 }, said);
  t.strictSame(await ask('s', '', '0', '4', 'yes'), { choice: 'stop', asked: 5 }, 'ambiguous or unknown');
  t.strictSame(await ask('s', '2'), { choice: 'set-aside', asked: 2 });
  t.strictSame(await ask(), { choice: 'stop', asked: 1 }, 'no answer');
});
