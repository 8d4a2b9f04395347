import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order, Report } from './readers.ts';

/** Readers in a second process. */
export interface Readers {
  order(order: Order): void;
  /** The next report of that kind. */
  report<Kind extends Report['is']>(kind: Kind): Promise<Extract<Report, { is: Kind }>>;
  stop(): Promise<void>;
}

export function startReaders(port: number): Readers {
  const child = fork(join(import.meta.dirname, 'readers.ts'), [String(port)]);
  const gone = once(child, 'exit');
  const reports: Report[] = [];
  const waiting = new Set<() => void>();
  child.on('message', (report: Report) => {
    reports.push(report);
    for (const one of waiting) one();
  });
  return {
    order: (order) => child.send(order),
    report: (kind) =>
      new Promise((resolve) => {
        const look = (): void => {
          const at = reports.findIndex(({ is }) => is === kind);
          if (at < 0) return;
          waiting.delete(look);
          resolve(reports.splice(at, 1)[0] as never);
        };
        waiting.add(look);
        look();
      }),
    stop: async () => {
      child.disconnect();
      await gone;
    },
  };
}
