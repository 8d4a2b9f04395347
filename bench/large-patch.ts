import { spawnSync } from 'node:child_process';
import { figure } from './measure.ts';
import { sized } from './sized.ts';

/** Applying and judging a patch of 2,000 files and 200,000 lines, and one of a tenth; each in its own process. */
export async function benchLargePatch(launcher: string): Promise<boolean> {
  const small = judge(launcher, sized(200, 2));
  const large = judge(launcher, sized(2000, 20));
  const held = [
    figure('2,000 files: memory', large.memoryMb, 330, 'MB', `200 files: ${small.memoryMb} MB`),
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

function judge(launcher: string, files: number): { readonly ms: number; readonly memoryMb: number } {
  const child = spawnSync(process.execPath, ['bench/judge-large-patch.ts', launcher, String(files)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`the child ended with ${child.status}`);
  return JSON.parse(child.stdout) as { ms: number; memoryMb: number };
}
