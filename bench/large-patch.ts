import { spawnSync } from 'node:child_process';
import { figure } from './measure.ts';
import { sized } from './sized.ts';

/** Applying and judging a patch of 2,000 files and 200,000 lines, and one of a tenth; each in a process of its own. */
export async function benchLargePatch(): Promise<boolean> {
  const small = judge(sized(200, 2));
  const large = judge(sized(2000, 20));
  const held = [
    figure('2,000 files: memory', large.rssMb, 300, 'MB', `200 files: ${small.rssMb.toFixed(0)} MB`),
    figure(
      '2,000 files / 200 files: time',
      large.ms / small.ms,
      12,
      'x',
      `${large.ms.toFixed(0)} ms against ${small.ms.toFixed(0)} ms; 10 is linear`,
    ),
  ];
  return held.every(Boolean);
}

function judge(files: number): { readonly ms: number; readonly rssMb: number } {
  const child = spawnSync(process.execPath, ['bench/judge-large-patch.ts', String(files)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`the child ended with ${child.status}`);
  return JSON.parse(child.stdout) as { ms: number; rssMb: number };
}
