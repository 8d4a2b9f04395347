import { performance } from 'node:perf_hooks';
import { isSmoke, sized } from './sized.ts';

/** Median of a list that is not empty. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Runs each of `works` once a round, in turn, so that a machine that changes its speed changes it for all; medians by
 * name.
 */
export async function interleaved<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, () => unknown>>,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(works) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < sized(rounds, 1); round += 1) {
    for (const name of names) times.get(name)?.push(await timed(works[name]));
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) ?? [])])) as Record<
    Name,
    number
  >;
}

const shown: string[] = [];

/** One figure against its limit, as one line, now and in the table at the end; true where it holds. */
export function figure(name: string, found: number, limit: number, unit: string, detail: string): boolean {
  const holds = isSmoke || found <= limit;
  const line = `${isSmoke ? 'ran ' : holds ? 'ok  ' : 'MISS'}  ${name.padEnd(52)} ${found.toFixed(2).padStart(9)} ${unit.padEnd(2)}  limit ${String(limit).padStart(5)} ${unit.padEnd(2)}  ${detail}\n`;
  shown.push(line);
  process.stdout.write(line);
  return holds;
}

/** Every figure so far, those that missed their limit first. */
export function printTable(): void {
  const missed = shown.filter((line) => line.startsWith('MISS'));
  const held = shown.filter((line) => !line.startsWith('MISS'));
  process.stdout.write(
    `\n${[...missed, ...held].join('')}${shown.length} figures, ${missed.length} missed\n`,
  );
}
