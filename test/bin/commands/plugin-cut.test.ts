import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

t.setTimeout(240_000);

t.test('a provider fails its test for faults with split chunks, retries or shared state', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const at = { cwd: sample.root, env: sample.env };
  await runLine(['plugin', 'new', 'provider', 'parrot'], commands, at);
  const place = join(sample.root, 'parrot/provider.js');
  const text = readFileSync(place, 'utf8');
  for (const [what, changes, found] of [
    [
      'each chunk is decoded alone',
      [
        ['body.pipeThrough(new TextDecoderStream())', 'body'],
        ['(rest + piece)', '(rest + new TextDecoder().decode(piece))'],
      ],
      /cut within characters, `text`: expected "Héllo", found "H\ufffd/,
    ],
    [
      'it asks again by itself',
      [
        ['const response = await fetch(', 'const put = () => fetch('],
        [
          'if (!response.ok)',
          'let response = await put();\n  if (!response.ok) response = await put();\n  if (!response.ok)',
        ],
      ],
      /`too many questions`.*expected one request for one question, found 2: asking again is the engine’s/,
    ],
    [
      'its calls and usage are kept for all questions',
      [
        ['const kinds', 'let calls = [], used;\nconst kinds'],
        ['const response', 'calls = [];\n  const response'],
        ["if (call) yield { type: 'call', call };", 'if (call) calls.push(call);'],
        ["if (usage) yield { type: 'usage', usage };", 'if (usage) used = usage;'],
        [
          'if (end) yield',
          "if (end) for (const call of calls) yield { type: 'call', call };\n    if (end) yield { type: 'usage', usage: used };\n    if (end) yield",
        ],
      ],
      // Which of the two replies is mixed first is a race; either fault names the same mistake.
      /line by line in turn.*(?:`calls`: expected|expected calls with an `id` of their own)/,
    ],
  ] as const) {
    let changed = text;
    for (const [from, to] of changes) {
      t.ok(changed.includes(from), from);
      changed = changed.replace(from, to);
    }
    writeFileSync(place, changed);
    const { code, out } = await runLine(['--json', 'plugin', 'test', 'parrot'], commands, at);
    t.equal(code, 1, what);
    t.match(JSON.parse(out).data.parts[0].failures.join('\n'), found, what);
  }
});
