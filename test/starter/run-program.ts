import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFrame, writeFrame } from './frames.ts';
import type { Answer, Order } from './order.ts';

interface Starter {
  readonly child: ChildProcess;
  readonly orders: number;
  readonly answers: number;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Uint8Array;
}

/** What a program that was run to its end has said. */
export interface ProgramEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const maxBuffer = 2 ** 29;
let starter: Starter | undefined;

/**
 * Runs a program to its end, like `spawnSync`, from a small process of our own: a fork copies the tables of all memory,
 * and a room of tests has a lot of it. For what tests prepare and look at (git above all), not for what is under test.
 * Throws where it cannot be started.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): ProgramEnd {
  starter ??= start();
  const { orders, answers } = starter;
  const { cwd = process.cwd(), env = process.env, input } = options;
  const order: Order = { program, args, cwd, env, maxBuffer };
  writeFrame(orders, order, input === undefined ? [] : [Buffer.from(input)]);
  const frame = readFrame<Answer>(answers);
  if (frame === undefined) throw new Error('the process that runs programs for the tests has ended');
  const { status, signal, code } = frame.head;
  if (code !== undefined) throw Object.assign(new Error(`\`${program}\`: ${code}`), { code });
  const [stdout = Buffer.alloc(0), stderr = Buffer.alloc(0)] = frame.parts;
  return { status, signal, stdout, stderr };
}

/**
 * Standard output of a program that must succeed, like `execFileSync`; the error has its `status`, `stdout` and
 * `stderr`.
 */
export function outputOf(program: string, args: readonly string[], options: ProgramOptions = {}): Buffer {
  const end = runProgram(program, args, options);
  if (end.status === 0) return end.stdout;
  const message = `Command failed: ${[program, ...args].join(' ')}\n${end.stderr}`;
  throw Object.assign(new Error(message), end);
}

/** Pipes with names, so that we may wait on them; each end is closed with its process. */
function start(): Starter {
  const box = mkdtempSync(join(tmpdir(), 'writ-starter-'));
  const [down, up] = [join(box, 'orders'), join(box, 'answers')];
  spawnSync('mkfifo', [down, up]);
  const ours = { orders: openSync(down, 'r+'), answers: openSync(up, 'r+') };
  const theirs = openSync(down, 'r');
  const child = spawn(process.execPath, [fileURLToPath(new URL('serve.ts', import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit', theirs, ours.answers],
  });
  child.unref();
  // From here on, nobody but the process can write answers, or read orders.
  const answers = openSync(up, 'r');
  const orders = openSync(down, 'w');
  for (const descriptor of [ours.orders, ours.answers, theirs]) closeSync(descriptor);
  rmSync(box, { recursive: true });
  return { child, orders, answers };
}
