import type { ReadingBuilder } from '../reading.ts';

/** Values of a switch that turn a check off, and that turn one on which is off by default. */
export interface CheckFlag {
  readonly loose?: readonly string[];
  readonly strict?: readonly string[];
}

export const onByDefault: CheckFlag = { loose: ['false', 'no', 'off', '0', 'null'] };
export const offByDefault: CheckFlag = { strict: ['true', 'yes', 'on', '1'] };
/** Harmless unless turned on. */
export const looseWhenOn: CheckFlag = { loose: ['true', 'yes', 'on', '1', 'all'] };

/** States a switch where it loosens or guards; a value that is a variable may be either, so it always counts. */
export function stateFlag(
  reading: ReadingBuilder,
  key: string,
  value: unknown,
  { loose = [], strict = [] }: CheckFlag,
  line?: number,
): void {
  if (value === undefined || value === null || typeof value === 'object') return;
  const text = String(value).trim().toLowerCase();
  if (loose.includes(text)) reading.source(key, text, { line, counts: 'added' });
  else if (strict.includes(text)) reading.source(key, text, { line, counts: 'lost' });
  else if (text.includes('$')) reading.source(key, text, { line });
}
