/* Reads settings of package sources by tables of their names. */
import { isTable, tableOf } from '../content.ts';
import type { ReadingBuilder } from '../reading.ts';

/** Values of a switch that turn a check off, and that turn one on which is off by default. */
export interface CheckFlag {
  readonly loose?: readonly string[];
  readonly strict?: readonly string[];
}

/** Guards where it is on, loosens where it is off. */
export const eitherWay: CheckFlag = {
  loose: ['false', 'no', 'off', '0', 'null'],
  strict: ['true', 'yes', 'on', '1'],
};
export const onByDefault: CheckFlag = { loose: eitherWay.loose ?? [] };
export const offByDefault: CheckFlag = { strict: eitherWay.strict ?? [] };
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

/** `place` always counts, `added` if it comes, `lost` if it goes; a switch counts where it loosens or guards. */
export type Setting = 'place' | 'added' | 'lost' | CheckFlag;

/**
 * States settings of a parsed document by their path, `a.b.c`. `*` is every key of a table, or every item of a list (or
 * a value alone), which shares the key of the list. A table in place of a value counts by its `url` or `path`.
 */
export function readSettings(
  reading: ReadingBuilder,
  root: unknown,
  settings: Readonly<Record<string, Setting>>,
  prefix = '',
): void {
  for (const [path, setting] of Object.entries(settings))
    readSetting(reading, root, path.split('.'), prefix, setting);
}

function readSetting(
  reading: ReadingBuilder,
  value: unknown,
  [step, ...rest]: readonly string[],
  key: string,
  setting: Setting,
): void {
  const below = (name: string): string => (key === '' ? name : `${key}.${name}`);
  if (step === undefined) {
    if (typeof setting === 'object') stateFlag(reading, key, value, setting);
    else
      reading.source(key, isTable(value) ? (value.url ?? value.path) : value, {
        counts: setting === 'place' ? undefined : setting,
      });
  } else if (step !== '*') readSetting(reading, tableOf(value)[step], rest, below(step), setting);
  else if (isTable(value))
    for (const [name, inner] of Object.entries(value))
      readSetting(reading, inner, rest, below(name), setting);
  else
    for (const item of Array.isArray(value) ? value : [value]) readSetting(reading, item, rest, key, setting);
}
