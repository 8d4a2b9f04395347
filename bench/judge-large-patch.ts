/*
 * One process that applies and judges a patch of N files of 100 lines; prints the milliseconds that takes, and the peak
 * memory of the compiled package that does the same.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSample } from '../test/engine/sample.ts';
import { timed } from './measure.ts';
import { memoryOfRun } from './run-memory.ts';

const [, , launcher = '', files = '2000'] = process.argv;
const sample = makeSample();
try {
  for (let index = 0; index < Number(files); index += 1) {
    const directory = join(sample.root, 'src', `part-${index % 50}`);
    mkdirSync(directory, { recursive: true });
    const lines = Array.from(
      { length: 100 },
      (_, line) => `export const value_${line} = compute(${index}, ${line}, 'text ${line}');`,
    );
    writeFileSync(join(directory, `file-${index}.js`), `${lines.join('\n')}\n`);
  }
  sample.git('add', '--all');
  sample.git('-c', 'core.fsync=none', 'commit', '--quiet', '-m', 'Many files');
  sample.git('branch', 'many');
  sample.git('reset', '--quiet', '--hard', 'main~1');
  const spec = { intent: { changeType: 'feature' }, metadata: { target: { baseRef: 'main' } } };
  let type: string | undefined;
  const ms = await timed(async () => {
    const view = await sample.run({ source: { kind: 'range', range: 'main..many' } }, spec);
    type = view.decision?.type;
  });
  if (type !== 'commit') throw new Error(`expected a commit, found ${type}`);
  sample.git('reset', '--quiet', '--hard', sample.git('rev-list', '--max-parents=0', 'HEAD'));
  const memoryMb = memoryOfRun(
    launcher,
    sample,
    { ...spec, metadata: { ...spec.metadata, id: 'large-patch-again' } },
    ['--range', 'main..many'],
  );
  process.stdout.write(JSON.stringify({ ms, memoryMb }));
} finally {
  sample.remove();
}
