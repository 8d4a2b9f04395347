import { readFileSync } from 'node:fs';

/**
 * What the whole machine uses: at least what any one sandbox holds of it. `undefined` where the kernel does not say.
 */
export interface MachineUse {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/** Two small files, whatever runs: what keeps the watch over a sandbox cheap while it holds little. */
export function machineUse(): MachineUse | undefined {
  try {
    const memory = readFileSync('/proc/meminfo', 'latin1');
    const kibibytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(memory)?.[1]);
    const used =
      kibibytes('MemTotal') - kibibytes('MemAvailable') + kibibytes('SwapTotal') - kibibytes('SwapFree');
    const tasks = Number(/ \d+\/(\d+) /.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1]);
    return Number.isNaN(used + tasks) ? undefined : { memoryBytes: used * 1024, tasks };
  } catch {
    return undefined;
  }
}
