/* One process that applies and judges a patch of N files of 100 lines; prints milliseconds and its own peak memory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSample } from '../test/engine/sample.ts';
import { timed } from './measure.ts';

const files = Number(process.argv[2] ?? '2000');
const sample = makeSample();
try {
  for (let index = 0; index < files; index += 1) {
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
  const rssMb = process.resourceUsage().maxRSS / 1024;
  process.stdout.write(JSON.stringify({ ms, rssMb }));
} finally {
  sample.remove();
}
