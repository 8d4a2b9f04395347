import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtures, makeSample } from '../test/engine/sample.ts';
import { figure, interleaved } from './measure.ts';

/** `writ verify HEAD` of a sealed run in a repository, whole processes of the compiled package, against `node -e 0`. */
export async function benchVerifyHead(launcher: string): Promise<boolean> {
  const sample = makeSample();
  try {
    const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
    await sample.run({ source: { kind: 'patch', bytes } });
    const env = { ...sample.env, NODE_COMPILE_CACHE: undefined };
    const node = (...args: string[]) =>
      execFileSync(process.execPath, args, { env, cwd: sample.root, stdio: 'ignore' });
    const works = { node: () => node('-e', '0'), verify: () => node(launcher, 'verify', 'HEAD') };
    await interleaved(2, works);
    const times = await interleaved(15, works);
    const detail = `${times.verify.toFixed(0)} ms, node ${times.node.toFixed(0)} ms`;
    return figure('writ verify HEAD / node -e 0', times.verify / times.node, 3.5, 'x', detail);
  } finally {
    sample.remove();
  }
}
