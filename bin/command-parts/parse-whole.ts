import { WritError } from '../../core/base/errors.ts';

/** A whole number out of a command line; USAGE. */
export function parseWhole(text: string | undefined, name: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new WritError('USAGE', {
    message: `expected a whole number up to ${most} for ${name}, found \`${text ?? ''}\``,
    detail: { expected: `0 to ${most}`, found: text ?? null },
  });
}
