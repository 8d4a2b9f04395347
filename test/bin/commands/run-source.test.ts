import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

const cwd = mkdtempSync(join(tmpdir(), 'writ-run-source-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
writeFileSync(join(cwd, 'spec.json'), '{}');
writeFileSync(join(cwd, 'change.diff'), '');

async function faultOf(...argv: readonly string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: cwd };
  const { code, out } = await runLine(['--json', 'run', ...argv], commands, { cwd, env });
  return { exit: code, code: JSON.parse(out).error?.code };
}

t.test('a contract that is not there is told before that nobody does the work', async (t) => {
  const missing = await faultOf('nope.json', '--patch', 'change.diff');
  t.match(missing, { code: 'INPUT_UNREADABLE' });
  t.strictSame(await faultOf('nope.json'), missing);
  t.match(await faultOf('spec.json'), { code: 'NO_WORKER' });
});

long('one source of the change, and standard input for one thing', async (t) => {
  for (const argv of [
    ['nope.json', '--patch', 'change.diff', '--range', 'a..b'],
    ['-', '--patch', '-'],
    ['-', '--recording', '-'],
  ])
    t.match(await faultOf(...argv), { exit: 129, code: 'USAGE' }, argv.join(' '));
});
