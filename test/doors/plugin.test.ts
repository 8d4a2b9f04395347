import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { fixtures, makeSample, sampleSpec } from '../engine/run/sample.ts';
import { blocksOf, compile, makeOutsider, runTo } from './packed-package.ts';

t.setTimeout(300_000);

const withGate = fileURLToPath(new URL('../../fixtures/doors/with-gate.ts', import.meta.url));
const change = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');

/** A project with the gate and its test as the page has them, compiled. */
function makeGate() {
  const outsider = makeOutsider();
  const [gate = '', test = '', ...more] = blocksOf('docs/plugins.md', 'ts');
  writeFileSync(join(outsider.directory, 'gate.ts'), gate);
  writeFileSync(join(outsider.directory, 'gate.test.ts'), test);
  cpSync(withGate, join(outsider.directory, 'with-gate.ts'));
  return { outsider, gate, more, compiled: compile(outsider) };
}

t.test('the gate on the page refuses what it is about, and nothing else', async (t) => {
  const { outsider, more, compiled } = makeGate();
  t.strictSame(more, []);
  t.equal(compiled.status, 0, compiled.out);
  for (const [name, text, expected] of [
    ['a new mark', change.replace('two cost twice', 'TODO two cost twice'), 'abandon'],
    ['no mark', change, 'commit'],
  ] as const) {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const [spec, patch] = [join(sample.home, 'spec.json'), join(sample.home, 'change.diff')];
    writeFileSync(spec, sampleSpec());
    writeFileSync(patch, text);
    const line = ['built/with-gate.js', sample.root, spec, patch];
    const { status, out, err } = runTo(process.execPath, line, outsider.directory, sample.env);
    t.equal(status, 0, err);
    const { decision, findings } = JSON.parse(out);
    t.equal(decision.type, expected, name);
    const found = findings.filter(({ rule }: { readonly rule: string }) => rule === 'no-todo');
    t.match(found, expected === 'commit' ? [] : [{ severity: 'error', path: 'test/price.test.js', line: 9 }]);
  }
});

t.test(
  'the test on the page passes for the gate on the page, and fails for one that sees nothing',
  async (t) => {
    const { outsider, gate, compiled } = makeGate();
    t.equal(compiled.status, 0, compiled.out);
    const test = () => runTo(process.execPath, ['--test', 'built/gate.test.js'], outsider.directory);
    t.match(test(), { status: 0, out: /^(?:#|ℹ) pass [1-9]/m });
    writeFileSync(
      join(outsider.directory, 'gate.ts'),
      gate.replace("line.includes('TODO')", 'line.length > 9000'),
    );
    t.equal(compile(outsider).status, 0);
    t.match(test(), { status: 1, out: /a new one is refused where it stands/ });
  },
);
