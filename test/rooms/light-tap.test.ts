import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { long } from './long.ts';

const light = new URL('light-tap.ts', import.meta.url).href;

/** What comes of a test with this body, and of one behind it, in a process of their own. */
function outcomeOf(t: Test, body: string): { readonly status: number | null; readonly said: string } {
  const file = join(t.testdir(), 'one.test.mjs');
  const lines = [
    `import { tap } from '${light}';`,
    "import { setTimeout as pause } from 'node:timers/promises';",
    `tap.test('first', async (t) => { ${body}; t.ok(true); });`,
    "tap.test('second', async (t) => { await pause(30); t.ok(true); });",
  ];
  writeFileSync(file, lines.join('\n'));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

long('an uncaught error fails the run and is named', async (t) => {
  const bodies = [
    "Promise.reject(new Error('stray')); await pause(5)",
    "void (async () => { await pause(1); throw new Error('stray'); })(); await pause(9)",
    "setTimeout(() => { throw new Error('stray'); }, 1); await pause(9)",
    "setTimeout(() => { Promise.reject(new Error('stray')); }, 9)",
    "await pause(1); queueMicrotask(() => { throw new Error('stray'); }); await pause(1)",
  ];
  for (const body of bodies) {
    const { status, said } = outcomeOf(t, body);
    t.equal(status, 1, body);
    t.match(said, /^ *not ok /m, body);
    t.match(said, /stray/, body);
  }
});

t.test('a run with passing tests exits with 0', async (t) => {
  const { status, said } = outcomeOf(t, 'await pause(1)');
  t.equal(status, 0);
  t.match(said, /^# \{ total: 2, pass: 2 \}$/m);
});

t.test('tap does not track promises, and later hooks still can', async (t) => {
  const file = join(t.testdir(), 'seen.mjs');
  const lines = [
    "import hooks from 'node:async_hooks';",
    "import { syncBuiltinESMExports } from 'node:module';",
    'const [followed, before] = [[], hooks.createHook];',
    'const spy = (given) => { followed.push(given.trackPromises); return before(given); };',
    'hooks.createHook = spy; syncBuiltinESMExports();',
    `await import('${light}');`,
    "console.log('# followed', followed.join(), 'left', hooks.createHook === spy);",
  ];
  writeFileSync(file, lines.join('\n'));
  const { stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  t.match(stdout, /^# followed false left true$/m);
});
