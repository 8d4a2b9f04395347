import { spawn } from 'node:child_process';

/** What came of the tests of one room. */
export interface Outcome {
  readonly name: string;
  /** `null` where a signal ended it. */
  readonly status: number | null;
  /** Both streams, as they came. */
  readonly output: string;
  readonly seconds: number;
}

export interface Entry {
  readonly name: string;
  /** A file to run, and what it is told. */
  readonly argv: readonly string[];
}

/** Milliseconds without a byte of output: a room ends itself before that, unless it cannot. */
const silence = 600_000;

/**
 * Each program that a room starts costs a copy of its page tables, and a room starts a thousand: without this, what
 * modules leave behind while they load doubles them.
 */
const nodeFlags = ['--max-semi-space-size=4'];

/** Runs an entry in a Node of its own, behind `before`, to its end; one that falls silent is killed. */
export function runEntry(
  { name, argv }: Entry,
  env: NodeJS.ProcessEnv,
  before: readonly string[] = [],
  cwd = process.cwd(),
): Promise<Outcome> {
  return new Promise((resolve) => {
    const started = performance.now();
    const chunks: Buffer[] = [];
    const [program = '', ...args] = [...before, process.execPath, ...nodeFlags, ...argv];
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const deadline = setTimeout(() => child.kill('SIGKILL'), silence);
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      deadline.refresh();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('close', (status) => {
      clearTimeout(deadline);
      const seconds = (performance.now() - started) / 1000;
      resolve({ name, status, output: Buffer.concat(chunks).toString('utf8'), seconds });
    });
  });
}
