/*
 * Loaded before a program (`--import`): the module that `WRIT_REMOVAL` names is read with one text in place of another,
 * in this process, in its threads, and in each process below that keeps the environment. No file is written, so nothing
 * can stay behind. The process that was started for it says last what it cost.
 */
import { readFileSync, writeSync } from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import workers, { isMainThread, type WorkerOptions } from 'node:worker_threads';
import type { Swap } from './swap.ts';

const { url: swapped, from, to, startedBy } = JSON.parse(process.env.WRIT_REMOVAL ?? '{}') as Swap;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== swapped) return loaded;
    const text = Buffer.from((loaded.source ?? '') as Uint8Array).toString('utf8');
    return { ...loaded, source: text.replace(from, () => to) };
  },
});

const { Worker } = workers;
// The product starts its threads without the environment.
workers.Worker = class extends Worker {
  constructor(file: string | URL, { env, execArgv = [], ...options }: WorkerOptions = {}) {
    const told = typeof env === 'object' ? { ...env, WRIT_REMOVAL: process.env.WRIT_REMOVAL } : env;
    super(file, { ...options, env: told, execArgv: [...execArgv, `--import=${import.meta.url}`] });
  }
};
syncBuiltinESMExports();

if (isMainThread && process.ppid === startedBy)
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeSync(1, `# cost ${((user + system) / 1e6 + ofChildren()).toFixed(2)} s\n`);
  });

/** Processor seconds of the processes that ended below this one; 0 where the machine does not tell. */
function ofChildren(): number {
  try {
    const [, fields = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? [];
    const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number);
    // In ticks, of which Linux tells user space that there are 100 in a second.
    return (user + system) / 100;
  } catch {
    return 0;
  }
}
