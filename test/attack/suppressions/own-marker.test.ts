import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { type Json, makeSample } from '../../engine/sample.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(240_000);

const tokenOf = (id: string): string => inventedSecrets.find(([rule]) => rule === id)?.[1] ?? '';
const old = tokenOf('github-token');
const other = tokenOf('npm-token');
const spec: Json = {
  intent: { changeType: 'chore' },
  acceptance: {
    verificationPlan: {
      fastChecks: [{ id: 'unit', kind: 'command', command: 'true', required: true, timeoutSeconds: 60 }],
    },
  },
};

/** Runs the patch from one text of `src/key.js` to the next; `moved` renames the file on the way. */
async function judge(base: string, candidate: string, moved = false): Promise<RunView> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'src/key.js'), base);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'key');
  if (moved) sample.git('mv', 'src/key.js', 'src/moved.js');
  writeFileSync(join(sample.root, moved ? 'src/moved.js' : 'src/key.js'), candidate);
  sample.git('add', '--all');
  const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', '--full-index', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  return await sample.run({ source: { kind: 'patch', bytes } }, spec);
}

const manyLines = Array.from({ length: 30 }, (_, at) => `export const n${at} = ${at};\n`).join('');
const marked = (value: string): string =>
  `${manyLines}// writ:allow-secret (an invented one)\nexport const key = '${value}';\n`;

t.test('a suppression marker added by the patch does not allow its secret', async (t) => {
  for (const view of [
    await judge('x\n', marked(other)),
    await judge(marked(old), marked(other)),
    await judge(marked(old), marked(other), true),
  ]) {
    t.equal(view.decision?.type, 'abandon', view.decision?.rationale ?? '');
    t.match(
      view.findings.filter(({ severity }) => severity === 'error'),
      [{ rule: 'secrets' }],
    );
  }
});

long('a secret marked at the base stays allowed when its lines move', async (t) => {
  const around = `{\n  // writ:allow-secret\n  var key = '${old}';\n}\n${manyLines}`;
  for (const view of [await judge(marked(old), around), await judge(marked(old), `${marked(old)}x\n`, true)])
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
});
