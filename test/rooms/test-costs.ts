import { appendFileSync, readFileSync } from 'node:fs';
import type { TAP } from 'tap';
import { costsVariable } from './variables.ts';

/**
 * Writes the CPU seconds of each test of a room, its ended child processes included, if the variable names a file. Calls
 * of `t.test` are measured from begin to end; the rest of a file (imports) is written under the name `imports`. Returns
 * a function to call before each file of tests is imported. Linux only.
 */
export function recordCosts(tap: TAP): (file: string) => void {
  const path = process.env[costsVariable];
  if (path === undefined || process.platform !== 'linux') return () => {};
  let file = '';
  let last = cpuSeconds();
  const write = (of: string, name: string): void => {
    const now = cpuSeconds();
    appendFileSync(path, `${JSON.stringify({ file: of, name, seconds: Number((now - last).toFixed(2)) })}\n`);
    last = now;
  };
  const register = tap.test.bind(tap) as (...how: readonly unknown[]) => unknown;
  tap.test = ((...how: readonly unknown[]) => {
    const [name, body, of] = [String(how[0]), how.at(-1), file];
    if (typeof body !== 'function') return register(...how);
    const measured = async (t: unknown): Promise<void> => {
      write(of, 'imports');
      try {
        await body(t);
      } finally {
        write(of, name);
      }
    };
    return register(...how.slice(0, -1), measured);
  }) as typeof tap.test;
  return (next) => {
    write(file, 'imports');
    file = next;
  };
}

/** User and system time of this process and of its children that have ended (proc(5): fields 14 to 17, in 1/100 s). */
function cpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
}
