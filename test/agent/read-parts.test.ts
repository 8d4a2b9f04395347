import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { numberedLines, openTreeTools } from '../../agent/workspace-tools/tree-tools.ts';
import { guardingProfile, privacyPolicyOf } from '../../spec/facts.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { makeSample } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { useHands } from './use-workspace-tools.ts';

long('a long file is read to its end, part by part', async (t) => {
  const lines = Array.from(
    { length: 40_000 },
    (_, at) => `line ${at + 1} of a file that is longer than an answer`,
  );
  const prepare = ({ root }: { readonly root: string }) => {
    writeFileSync(join(root, 'src/long.txt'), `${lines.join('\n')}\n`);
    writeFileSync(join(root, 'src/huge.txt'), 'x\n'.repeat(17 * 1024 * 1024));
    writeFileSync(join(root, 'src/wide.txt'), `${'x'.repeat(300_000)}\nnext\n`);
    writeFileSync(join(root, 'src/zero.txt'), '');
    writeFileSync(join(root, 'src/binary.bin'), Buffer.from([1, 0, 2]));
  };
  await useHands(t, { prepare }, async (use) => {
    const seen: string[] = [];
    let reads = 0;
    for (let from: number | undefined = 1; from !== undefined && reads < 100; reads += 1) {
      const { text, outcome } = await use({ kind: 'read', path: 'src/long.txt', fromLine: from });
      t.equal(outcome, 'done');
      for (const line of text.split('\n')) if (/^\d+\t/.test(line)) seen.push(line.replace(/^\d+\t/, ''));
      const more = /go on from line (\d+)\]$/.exec(text);
      from = more ? Number(more[1]) : undefined;
    }
    t.strictSame(seen, lines);
    t.match(await use({ kind: 'read', path: 'src/long.txt', fromLine: 39_999, lines: 1 }), {
      text: '39999\tline 39999 of a file that is longer than an answer\n[lines 39999 to 39999 of 40000: go on from line 40000]',
    });
    t.match(await use({ kind: 'read', path: 'src/huge.txt' }), {
      outcome: 'failed',
      text: 'search it, or take a part',
    });
    t.match(
      (await use({ kind: 'read', path: 'src/wide.txt' })).text,
      /\[line 1 is cut: 262144 of 300001 bytes/,
    );
    t.match(await use({ kind: 'read', path: 'src/wide.txt', fromLine: 2 }), { text: '2\tnext' });
    t.match(await use({ kind: 'read', path: 'src/zero.txt' }), { outcome: 'done', text: '' });
    t.match(await use({ kind: 'read', path: 'src/binary.bin' }), {
      outcome: 'failed',
      text: 'failed: binary, 3 bytes',
    });
  });
});

t.test('lines are counted as an editor counts them', async (t) => {
  const range = { from: 1, lines: 10, maxBytes: 100 };
  t.equal(numberedLines('a\nb\n', range), '1\ta\n2\tb');
  t.equal(numberedLines('a\n\n', range), '1\ta\n2\t');
  t.equal(numberedLines('a', { ...range, from: 2 }), '[there is no line 2: the file has 1]');
  t.equal(numberedLines('a\nb\nc', { ...range, lines: 1 }), '1\ta\n[lines 1 to 1 of 3: go on from line 2]');
  t.equal(
    numberedLines('a\nb\nc', { ...range, maxBytes: 4 }),
    '1\ta\n2\tb\n[lines 1 to 2 of 3: go on from line 3]',
  );
});

t.test('a key that spans several lines is masked in each part', async (t) => {
  const rows = Array.from({ length: 20 }, (_, at) => Buffer.alloc(48, at + 65).toString('base64'));
  const [begin, end] = ['-----BEGIN RSA PRIVATE', '-----END RSA PRIVATE'].map((half) => `${half} KEY-----`);
  const key = [begin, ...rows, end].join('\n');
  await useHands(t, {}, async (use) => {
    await use({ kind: 'write', path: 'src/key.txt', bytes: Buffer.from(`first\n${key}\nlast\n`) });
    for (const fromLine of [1, 2, 3]) {
      const { text } = await use({ kind: 'read', path: 'src/key.txt', fromLine, lines: 4 });
      for (const row of rows) t.notMatch(text, row);
    }
  });
});

t.test('a model that only reads gets the lines that it asked for', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'long.txt'), 'x\n'.repeat(200_000));
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Long');
  const hands = openTreeTools({
    engine: await sample.engine(),
    repository: await openRepository(sample.root),
    tree: sample.git('rev-parse', 'HEAD^{tree}'),
    runId: 'r',
    policy: privacyPolicyOf(guardingProfile(0)),
    signal: new AbortController().signal,
  });
  t.match(await hands.use({ kind: 'read', path: 'long.txt', fromLine: 199_998, lines: 2 }), {
    outcome: 'done',
    text: '199998\tx\n199999\tx\n[lines 199998 to 199999 of 200000: go on from line 200000]',
  });
  const { text } = await hands.use({ kind: 'read', path: './long.txt' });
  t.match(text, /\[lines 1 to 2000 of 200000: go on from line 2001\]$/);
});
