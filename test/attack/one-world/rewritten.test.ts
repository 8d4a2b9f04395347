import t from 'tap';
import { rewrittenFindings } from '../../../engine/evaluate/written-outside.ts';
import { long } from '../../rooms/long.ts';
import { byId, judge, sceneOf } from './scene.ts';

// Sandboxes on a busy machine.
t.setTimeout(180_000);

long('a test suite that rewrites the files it tests fails with CHECK_REWROTE', async (t) => {
  const test = `
const { writeFileSync, readFileSync, utimesSync, statSync } = require('node:fs');
const { atime, mtime } = statSync('lib/sum.js');
writeFileSync('lib/sum.js', 'module.exports = (a, b) => a + b;\\n');
utimesSync('lib/sum.js', atime, mtime);
if (require('./lib/sum.js')(1, 2) !== 3) process.exit(1);
`;
  const files = {
    'lib/sum.js': 'module.exports = (a, b) => a - b;\n',
    'lib/package.json': '{"type":"commonjs"}\n',
    'gen/made.js': 'old\n',
    'sum.cjs': test,
    'package-lock.json': '{}\n',
    '.writ/config.toml': '[workspace]\nrewrites = ["gen/**"]\n',
  };
  const sample = sceneOf(t, files);
  const view = await judge(sample, {
    fast: [
      { id: 'fake', command: 'node sum.cjs' },
      { id: 'lock', command: 'echo "{ }" >package-lock.json' },
      { id: 'gen', command: 'echo new >gen/made.js' },
      {
        id: 'honest',
        command: 'mkdir dist && cat lib/sum.js >dist/sum.js && cat lib/sum.js >x && cat x >lib/sum.js',
      },
    ],
  });
  const { fake, lock, gen, honest } = byId(view);
  const said = [
    { rule: 'check-outcome', detail: { code: 'CHECK_REWROTE', paths: ['lib/sum.js'], count: 1 } },
  ];
  t.match(fake, { status: 'failed', exitCode: 0, findings: said });
  t.equal(fake?.findings[0]?.severity, 'error');
  t.match(lock, {
    status: 'passed',
    findings: [{ severity: 'warning', detail: { paths: ['package-lock.json'] } }],
  });
  t.match(gen, { status: 'passed', findings: [] });
  t.equal(gen?.findings.length, 0);
  t.match([honest?.status, honest?.findings.length], ['passed', 0]);
  t.equal(view.decision?.type, 'abandon');
});

t.test('the report of rewritten files names the first 20 files and the total count', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => `src/${index}.js`);
  const [error, warning, ...more] = rewrittenFindings([...many, 'a/Cargo.lock', 'dist/x.js'], ['dist/*']);
  t.match(error, { severity: 'error', detail: { count: 30, paths: many.slice(0, 20) } });
  t.match(error?.message, '`src/0.js`, ');
  t.match(error?.message, '`src/19.js` and 10 more');
  t.match(warning, { severity: 'warning', detail: { paths: ['a/Cargo.lock'] } });
  t.equal(more.length, 0);
  t.strictSame(rewrittenFindings(['dist/x.js'], ['dist/*']), []);
});
