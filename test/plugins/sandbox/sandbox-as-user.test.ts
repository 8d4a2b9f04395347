import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { casesOf, long } from '../../rooms/long.ts';

t.setTimeout(400_000);
const nobody = 65_534;
const setpriv = findProgram('setpriv', '');
const attacks = {
  'what a sandbox promises': 'sandbox-attack.test.ts',
  'one verdict in each': '../../attack/confinement/same-verdict.test.ts',
  'what it may hold': '../../attack/confinement/limits.test.ts',
  'what is written to a scratch': 'scratch.test.ts',
};

async function asNobody(home: string, ...argv: string[]): Promise<{ code: number; output: string }> {
  const identity = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];
  const child = spawn(setpriv ?? '', [...identity, process.execPath, ...argv], {
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: '/tmp', TAP: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

// As an ordinary user the attacks run by themselves; root has to be asked to step down.
const skip = process.getuid?.() !== 0 || setpriv === undefined ? 'not root' : false;

long('sandbox attacks fail for an ordinary user too', { skip }, async (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'writ-nobody-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  chownSync(home, nobody, nobody);
  for (const [, name] of casesOf(attacks, ['what a sandbox promises'])) {
    const file = path.join(import.meta.dirname, name);
    const readable = await asNobody(home, '--check', file);
    if (readable.code !== 0) return void t.comment('this checkout cannot be read by an ordinary user');
    const { code, output } = await asNobody(home, file);
    t.strictSame(
      output.split('\n').filter((line) => line.trimStart().startsWith('not ok')),
      [],
    );
    t.match(output, /pass: \d{2}/);
    t.equal(code, 0, file);
  }
});
