import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const channel = 'child_process';

/** Every process that this one starts from here on, until it is disposed. */
export interface StartedChildren extends Disposable {
  /** Subcommands of the gits among them, in order. */
  gits(): readonly string[];
  /** Pids of those that have not ended. */
  running(): readonly number[];
}

export function startedChildren(): StartedChildren {
  const all: ChildProcess[] = [];
  const take = (message: unknown): void => {
    all.push((message as { readonly process: ChildProcess }).process);
  };
  subscribe(channel, take);
  return {
    gits: () => all.flatMap(({ spawnargs }) => subcommandOf(spawnargs)),
    running: () => all.flatMap(({ pid }) => (pid !== undefined && isRunning(pid) ? [pid] : [])),
    [Symbol.dispose]: () => {
      unsubscribe(channel, take);
    },
  };
}

/** False for one that has ended, also where nobody has asked how yet. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Of `git …`, also behind the shell that holds it back until its claim is written. */
function subcommandOf(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => basename(word) === 'git');
  const command = args
    .slice(at + 1)
    .find((word, index, words) => !word.startsWith('-') && words[index - 1] !== '-c');
  return at < 0 || command === undefined ? [] : [command];
}
