/* Ends the process after its output has been written. */
import type { WritError } from '../core/base/errors.ts';
import { type Printer, type Sink, styled } from './terminal/print.ts';

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

const longestFact = 300;

/**
 * A fault for people, on stderr: code, sentence, what was expected and found, what to do. A stack only under
 * WRIT_DEBUG=1.
 */
export function complain(
  printer: Printer,
  error: WritError,
  env: Readonly<Record<string, string | undefined>>,
): void {
  printer.complain('writ: ', styled('red', error.code), ': ', error.message);
  for (const key of ['expected', 'found'] as const) {
    const fact = error.detail[key];
    if (fact !== undefined && fact !== null && fact !== '')
      printer.complain(styled('dim', `  ${key}: `), toFact(fact));
  }
  for (const hint of error.hints) printer.complain(styled('dim', '  hint: '), hint);
  if (env.WRIT_DEBUG !== '1') return;
  for (let fault: unknown = error; fault instanceof Error; fault = fault.cause) {
    for (const line of (fault.stack ?? '').split('\n')) printer.complain(styled('dim', `  ${line}`));
  }
}

function toFact(fact: unknown): string {
  const text =
    Array.isArray(fact) && fact.every((one) => typeof one === 'string')
      ? fact.join(', ')
      : typeof fact === 'string'
        ? fact
        : JSON.stringify(fact);
  return text.length > longestFact ? `${text.slice(0, longestFact)}…` : text;
}
