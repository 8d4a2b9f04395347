import type { Sink } from './terminal/print.ts';

/** Ends the process once everything printed has left it. Code 0 becomes 128 where stdout could not be written. */
export async function exit(code: number, out: Sink, err: Sink): Promise<never> {
  await Promise.all([out.flush(), err.flush()]);
  if (out.failure === undefined || code !== 0) process.exit(code);
  err.write(`writ: OUTPUT_FAILED: stdout could not be written: ${out.failure.message}\n`);
  await err.flush();
  process.exit(128);
}

/** Ends the process at once: for a second interrupt, and for a fault in the kit itself. */
export function exitNow(code: number): never {
  process.exit(code);
}
