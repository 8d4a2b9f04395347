/* A small process that runs programs for a large one: descriptor 3 brings requests, 4 takes answers. Ends with whoever started it. */
import { spawnSync } from 'node:child_process';
import { readFrame, writeFrame } from './frames.ts';
import { type Answer, answers, type Order, orders } from './order.ts';

for (let frame = readFrame<Order>(orders); frame !== undefined; frame = readFrame<Order>(orders)) {
  const { program, args, cwd, env, maxBuffer } = frame.head;
  const [input] = frame.parts;
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    maxBuffer,
    ...(input === undefined ? { stdio: ['ignore', 'pipe', 'pipe'] } : { input }),
  });
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const head: Answer = { status, signal, ...(code === undefined ? {} : { code }) };
  writeFrame(answers, head, [stdout ?? Buffer.alloc(0), stderr ?? Buffer.alloc(0)]);
}
