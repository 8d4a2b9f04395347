import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { logScaffold } from '../../../bin/plugin/maker-scaffolds.ts';
import { makeSample } from '../../engine/sample.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { say, writeScaffold } from './plugin-page.ts';

t.setTimeout(240_000);

long('the log plugin of `plugin new` passes its test', async (t) => {
  const sample = writeScaffold(t, 'notary', 'log.js', logScaffold('notary'));
  t.match(await say(sample, 'plugin', 'test', 'notary'), {
    code: 0,
    data: {
      parts: [{ kind: 'log', name: 'notary', failures: [] }],
      needs: ['connects to log.notary.example', 'is handed the secret NOTARY_TOKEN'],
    },
  });
});

long('a log plugin fails its test if it appends another entry or returns a false proof', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await say(sample, 'plugin', 'new', 'log', 'notary');
  const place = join(sample.root, 'notary/log.js');
  const text = readFileSync(place, 'utf8');
  const edits: Readonly<Record<string, readonly [from: string, to: string, found: RegExp]>> = {
    'another entry': [
      "ask('/add', context, entry)",
      "ask('/add', context, '{}')",
      /does not lead from the entry to the root/,
    ],
    'another index': ['logIndex: index', 'logIndex: index + 1', /does not lead from the entry to the root/],
    'another size': ['treeSize: size', 'treeSize: size + 1', /another size or root/],
    'another root': ['rootHash: root', "rootHash: 'A'.repeat(43) + '='", /another size or root/],
    'another path': ['hashes: path', "hashes: ['x']", /32 octets/],
    'another count': [').size;', ').size + 1;', /it had|is gone|0 !== 1|1 !== 0/],
  };
  for (const [, [from, to, found]] of casesOf(edits, ['another entry', 'another size'])) {
    t.ok(text.includes(from), from);
    writeFileSync(place, text.replace(from, to));
    const { code, error, data } = await say(sample, 'plugin', 'test', 'notary');
    t.match({ code, error }, { code: 1, error: { code: 'PLUGIN_TEST_FAILED' } }, to);
    t.match(data.parts[0].failures.join('\n'), found, to);
  }
});
