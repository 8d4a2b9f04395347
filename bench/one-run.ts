import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { makeSample, sampleSpec } from '../test/engine/sample.ts';
import { figure, median, timed } from './measure.ts';
import { sized } from './sized.ts';

const rounds = sized(9, 1);
const edit =
  '--- a/src/price.js\n+++ b/src/price.js\n@@ -1,4 +1,4 @@\n-/** Price of `count` items, in cents. */\n+/** Price of so many, in cents. */\n export function price(count, cents) {\n   return count * cents + 1;\n }\n';

/**
 * `writ run` of the compiled package against `node -e 0`, from the command line to the sealed commit: one file, one
 * check `true`, in a new repository. The user's home has compiled code and a passed probe, as from the second run on.
 */
export async function benchOneRun(launcher: string): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'writ-bench-home-'));
  try {
    await oneRun(launcher, home);
    const node: number[] = [];
    const runs: (readonly [ms: number, mb: number])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      node.push(await timed(() => execFileSync(process.execPath, ['-e', '0'], { stdio: 'ignore' })));
      runs.push(await oneRun(launcher, home));
    }
    const [start, ms, mb] = [
      median(node),
      median(runs.map(([one]) => one)),
      median(runs.map(([, one]) => one)),
    ];
    const detail = `${ms.toFixed(0)} ms, node ${start.toFixed(0)} ms`;
    return [
      figure('writ run, one file, one check / node -e 0', ms / start, 20, 'x', detail),
      figure('its most memory', mb, 150, 'MB', 'VmHWM of the one process of ours'),
    ].every(Boolean);
  } finally {
    rmSync(home, { recursive: true });
  }
}

async function oneRun(launcher: string, home: string): Promise<readonly [ms: number, mb: number]> {
  const sample = makeSample();
  try {
    const check = {
      id: 'quick',
      kind: 'command',
      command: 'true',
      required: true,
      artifactsProduced: ['test-log'],
    };
    const spec = sampleSpec({
      intent: { changeType: 'chore' },
      acceptance: { verificationPlan: { fastChecks: [check] } },
    });
    const [intent, patch] = [join(sample.home, 'intent.json'), join(sample.home, 'change.patch')];
    writeFileSync(intent, spec);
    writeFileSync(patch, edit);
    const began = performance.now();
    const args = [launcher, 'run', intent, '--patch', patch, '--quiet'];
    const env = { ...sample.env, HOME: home, NODE_COMPILE_CACHE: undefined };
    const child = spawn(process.execPath, args, { cwd: sample.root, env, stdio: 'ignore' });
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, highWater(child.pid));
    }, 20);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearInterval(look);
    if (code !== 0) throw new Error(`the run ended with ${code}`);
    return [performance.now() - began, most];
  } finally {
    sample.remove();
  }
}

/** MB; 0 where it has ended. */
function highWater(pid: number | undefined): number {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return (Number(found?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
}
