import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixtures, makeSample, sampleSpec } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { compiledPages } from './compiled-pages.ts';
import { compile, makeOutsider, runTo } from './packed-package.ts';

t.setTimeout(300_000);

t.test('the documented program runs a spec and verifies the commit with the packed package', async (t) => {
  const outsider = compiledPages();
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const [spec, patch] = [join(sample.home, 'spec.json'), join(sample.home, 'change.diff')];
  writeFileSync(spec, sampleSpec());
  cpSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), patch);
  const embed = (...args: string[]) =>
    runTo(process.execPath, ['built/embed.js', ...args], outsider.directory, sample.env);
  const { status, out, err } = embed(sample.root, spec, patch);
  t.equal(status, 0, err);
  const answer = JSON.parse(out);
  t.equal(answer.commit, sample.git('rev-parse', 'HEAD'));
  t.match(answer, { verified: true, expected: Number, ran: answer.expected });
  t.match(err, /^fast: passed$/m, 'it was told while it ran');

  const writ = join(outsider.installed, 'bin', 'writ.js');
  const verified = runTo(process.execPath, [writ, 'verify', 'HEAD'], sample.root, sample.env);
  t.equal(verified.status, 0, verified.err);

  const refused = embed(sample.root, spec, patch);
  t.match(refused.err, /^LIFECYCLE_NOT_ACTIVE: /m, 'a fault is one of the catalogue');
  t.ok(refused.status !== 0 && refused.out === '');
});

long('a consumer can import only the entry points of the package', async (t) => {
  const { directory, installed } = makeOutsider();
  for (const path of [
    'core/base/errors',
    'core/base/errors.js',
    'dist/index.js',
    'bin/writ.js',
    'package.json',
    'engine',
  ]) {
    const asked = `import('writ/${path}').then(() => process.exit(0), ({ code }) => { console.log(code); process.exit(3); })`;
    const { status, out } = runTo(process.execPath, ['-e', asked], directory);
    t.match({ status, out: out.trim() }, { status: 3, out: 'ERR_PACKAGE_PATH_NOT_EXPORTED' }, path);
  }
  t.ok(existsSync(join(installed, 'dist', 'index.js')), 'although it is there');
  const asked = "import { WritError } from 'writ/core/base/errors.ts';\nthrow new WritError('INTERNAL');\n";
  writeFileSync(join(directory, 'inside.ts'), asked);
  const misused =
    "import { createEngine } from 'writ';\nawait (await createEngine()).run({ repository: 1 });\n";
  writeFileSync(join(directory, 'misused.ts'), misused);
  const { status, out } = compile({ directory, installed });
  t.equal(status, 2);
  t.match(out, /inside\.ts.*TS2307/, 'nor typed');
  t.match(out, /misused\.ts.*TS2739|misused\.ts.*TS2322/);
});
