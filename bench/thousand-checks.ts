import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../core/base/clock.ts';
import { inParallel } from '../engine/state/machine.ts';
import { makeSample, type Sample } from '../test/engine/sample.ts';
import { figure, median, timed } from './measure.ts';
import { memoryOfRun } from './run-memory.ts';
import { sized } from './sized.ts';

const count = sized(1000, 4);
const parallel = 4;

/**
 * 1,000 checks of `true` in one stage, evidence written, against a bare loop over the same sandboxed processes; and the
 * memory of the compiled package that runs them.
 */
export async function benchThousandChecks(launcher: string): Promise<boolean> {
  const sample = makeSample();
  await using engine = await sample.engine();
  try {
    const sandbox = await engine.slots.sandbox.pick('bubblewrap');
    await sandbox.probe();
    const checks = Array.from({ length: count }, (_, index) => ({
      id: `t${index}`,
      kind: 'command',
      command: 'true',
      required: true,
      timeoutSeconds: 30,
    }));
    // Landed, an intent is closed: each round has one of its own.
    const specOf = (round: number) => ({
      metadata: { id: `thousand-checks-${round}` },
      intent: { changeType: 'chore' },
      acceptance: { verificationPlan: { fastChecks: checks } },
      execution: { concurrency: { maxParallelTasks: parallel } },
    });
    const bare = () =>
      inParallel(checks, parallel, () =>
        sandbox.run({
          argv: ['sh', '-c', 'true'],
          workspace: sample.root,
          reports: sample.home,
          binds: [],
          env: {},
          network: 'none',
          timeoutMs: 30_000,
          maxOutputBytes: 1024,
        }),
      );
    const bareTimes: number[] = [];
    const runTimes: number[] = [];
    for (let round = 0; round < sized(3, 2); round += 1) {
      bareTimes.push(await timed(bare));
      putBack(sample);
      runTimes.push(
        await timed(() =>
          sample.run(
            { source: { kind: 'patch', bytes: Buffer.from(editOf(round)) }, clock: systemClock },
            specOf(round),
          ),
        ),
      );
    }
    const [run, loop] = [median(runTimes), median(bareTimes)];
    putBack(sample);
    const patch = join(sample.home, 'change.patch');
    writeFileSync(patch, editOf(-1));
    const memory = memoryOfRun(launcher, sample, specOf(-1), ['--patch', patch]);
    return [
      figure(
        `${count} checks of \`true\` / bare sandbox loop`,
        run / loop,
        1.9,
        'x',
        `${run.toFixed(0)} ms against ${loop.toFixed(0)} ms`,
      ),
      figure('their most memory', memory, 350, 'MB', 'VmHWM of `writ run`'),
    ].every(Boolean);
  } finally {
    sample.remove();
  }
}

function editOf(round: number): string {
  return `--- a/src/price.js\n+++ b/src/price.js\n@@ -1,4 +1,4 @@\n-/** Price of \`count\` items, in cents. */\n+/** Price of \`count\` items, in cents, round ${round}. */\n export function price(count, cents) {\n   return count * cents + 1;\n }\n`;
}

function putBack(sample: Sample): void {
  sample.git('reset', '--quiet', '--hard', sample.git('rev-list', '--max-parents=0', 'HEAD'));
}
