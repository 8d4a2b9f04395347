import type { WritError } from '../core/base/errors.ts';
import { type Printer, styled } from './terminal/print.ts';

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
