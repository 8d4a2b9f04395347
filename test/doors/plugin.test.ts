import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixtures, makeSample, sampleSpec } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { compiledPages } from './compiled-pages.ts';
import { runTo } from './packed-package.ts';

t.setTimeout(300_000);

const change = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');

long('the documented gate plugin refuses a new TODO and nothing else', async (t) => {
  const outsider = compiledPages();
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

long('the documented plugin test passes for its gate and fails for one that finds nothing', async (t) => {
  const test = (name: string) =>
    runTo(process.execPath, ['--test', `built/${name}.test.js`], compiledPages().directory);
  t.match(test('gate'), { status: 0, out: /^(?:#|ℹ) pass [1-9]/m });
  t.match(test('blind-gate'), { status: 1, out: /a new one is refused at its line/ });
});
