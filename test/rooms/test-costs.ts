import { appendFileSync, readFileSync } from 'node:fs';
import type { TAP } from 'tap';

/** A file to which each room appends what its tests cost: one JSON object for a test of a file. */
export const costsVariable = 'WRIT_TEST_COSTS';

/**
 * Writes the CPU seconds of each test of a room, its ended child processes included, where the variable names a file.
 * Returns a function to call before each file of tests is imported. Linux only.
 */
export function recordCosts(tap: TAP): (file: string) => void {
  const path = process.env[costsVariable];
  if (path === undefined || process.platform !== 'linux') return () => {};
  const files = new Map<string, string>();
  let file = '';
  const register = tap.test.bind(tap) as (...how: readonly unknown[]) => unknown;
  tap.test = ((...how: readonly unknown[]) => {
    files.set(String(how[0]), file);
    return register(...how);
  }) as typeof tap.test;
  let before = cpuSeconds();
  const write = (name: string): void => {
    const now = cpuSeconds();
    const row = { file: files.get(name) ?? file, name, seconds: Number((now - before).toFixed(2)) };
    before = now;
    appendFileSync(path, `${JSON.stringify(row)}\n`);
  };
  tap.on('subtestStart', () => write('(between tests)'));
  tap.on('subtestEnd', (test) => write(test.name));
  return (next) => {
    file = next;
  };
}

/** User and system time of this process and of its children that have ended (proc(5): fields 14 to 17, in 1/100 s). */
function cpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
}
