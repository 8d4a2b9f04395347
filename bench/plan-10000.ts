import { spawnSync } from 'node:child_process';
import { figure } from './measure.ts';
import { sized } from './sized.ts';

interface Planned {
  readonly ms: number;
  readonly firstMs: number;
  readonly heapBytes: number;
  readonly edges: number;
}

/** A plan of 10,000 tasks with overlapping writes, and one of a tenth; each in a process of its own. */
export async function benchPlan(): Promise<boolean> {
  const small = planned(sized(1000, 20));
  const large = planned(sized(10_000, 200));
  const held = [
    figure(
      '10,000 tasks planned, first time',
      large.firstMs,
      1000,
      'ms',
      `then ${large.ms.toFixed(0)} ms; ${large.edges} dependencies`,
    ),
    figure(
      '10,000 tasks / 1,000 tasks: memory of the plan',
      large.heapBytes / small.heapBytes,
      12,
      'x',
      `${(large.heapBytes / 1e6).toFixed(2)} MB against ${(small.heapBytes / 1e6).toFixed(2)} MB; 10 is linear`,
    ),
  ];
  return held.every(Boolean);
}

function planned(tasks: number): Planned {
  const child = spawnSync(process.execPath, ['--expose-gc', 'bench/plan-many-tasks.ts', String(tasks)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`the child ended with ${child.status}`);
  return JSON.parse(child.stdout) as Planned;
}
