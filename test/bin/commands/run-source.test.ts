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

t.test('a missing spec is reported before a missing worker', async (t) => {
  const missing = await faultOf('nope.json', '--patch', 'change.diff');
  t.match(missing, { code: 'INPUT_UNREADABLE' });
  t.strictSame(await faultOf('nope.json'), missing);
  t.match(await faultOf('spec.json'), { code: 'NO_WORKER' });
});

long('`writ run` accepts one change source and one use of stdin', async (t) => {
  for (const argv of [
    ['nope.json', '--patch', 'change.diff', '--range', 'a..b'],
    ['-', '--patch', '-'],
    ['-', '--recording', '-'],
    ['nope.json', '--external-agent', '--patch', 'change.diff', '--', 'codex'],
  ])
    t.match(await faultOf(...argv), { exit: 129, code: 'USAGE' }, argv.join(' '));
});

t.test('the words of an external agent are behind `--`, and belong to nothing else', async (t) => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'no words': ['spec.json', '--external-agent'],
    'words without the option': ['spec.json', '--patch', 'change.diff', '--', 'codex', 'exec'],
    'a request in place of a spec': ['--request', 'Round', '--external-agent', '--', 'codex'],
    'a flag of a model': ['spec.json', '--external-agent', '--temperature', '1', '--', 'codex'],
    'a recording': ['spec.json', '--external-agent', '--record', 'there', '--', 'codex'],
    'the merge queue': ['spec.json', '--queue', '--external-agent', '--', 'codex'],
  };
  for (const [name, argv] of Object.entries(cases))
    t.match(await faultOf(...argv), { exit: 129, code: 'USAGE' }, name);
  const words = ['spec.json', '--external-agent=codex', '--', 'codex', 'exec', '--json', '-', ''];
  t.match(await faultOf(...words), { code: 'INTENTSPEC_INVALID' }, 'its own options are no options of writ');
});
