import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { figure, interleaved } from './measure.ts';

/** Start-up of the compiled package against `node -e 0`, whole processes. */
export async function benchStartUp(launcher: string): Promise<boolean> {
  const spec = resolve('fixtures/specs/valid/typical.json');
  const env = { ...process.env, NODE_COMPILE_CACHE: mkdtempSync(join(tmpdir(), 'writ-bench-cache-')) };
  // Outside of any repository a contract is judged by itself; inside of one git and the engine are asked, too.
  const cwd = mkdtempSync(join(tmpdir(), 'writ-bench-outside-'));
  const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd, env, stdio: 'ignore' });
  const works = {
    node: () => node('-e', '0'),
    version: () => node(launcher, '--version'),
    validate: () => node(launcher, 'spec', 'validate', spec),
  };
  await interleaved(2, works);
  const times = await interleaved(21, works);
  const detail = `node ${times.node.toFixed(0)} ms`;
  const held = [
    figure(
      'writ --version / node -e 0',
      times.version / times.node,
      1.5,
      'x',
      `${times.version.toFixed(0)} ms, ${detail}`,
    ),
    figure(
      'writ spec validate, no repository / node -e 0',
      times.validate / times.node,
      2,
      'x',
      `${times.validate.toFixed(0)} ms, ${detail}`,
    ),
  ];
  return held.every(Boolean);
}
