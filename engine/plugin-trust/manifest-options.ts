import { type Fields, parseText, parseWord } from '../../core/base/parse-fields.ts';
import { listAt, membersOf } from './at-member.ts';
import { kebabCase } from './manifest-part.ts';

type OptionValue = string | number | boolean;

/** One option of a plugin, as its manifest declares it. */
export interface ManifestOption {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean';
  /** The only ones there are; absent: any of the type. */
  readonly values?: readonly OptionValue[];
  /** Absent: the plugin sees nothing where nothing is said. */
  readonly default?: OptionValue;
  readonly says: string;
}

const maxText = 4096;

/** Reads one that a manifest declares; throws on nonsense. */
export function parseOption(item: unknown): ManifestOption {
  const fields = membersOf(item, 'an option', ['name', 'type', 'values', 'default', 'says']);
  const name = parseText(fields, 'name', 64);
  if (!kebabCase.test(name.replaceAll('_', '-')))
    throw new TypeError('expected the `name` of an option in lower case, with `-` or `_`');
  const type = parseWord(fields, 'type', ['string', 'number', 'boolean']);
  const option = { name, type, says: parseText(fields, 'says', 500) };
  const values =
    fields.values === undefined ? {} : { values: listAt(fields, 'values', (one) => toValue(option, one)) };
  const whole = { ...option, ...values };
  return fields.default === undefined ? whole : { ...whole, default: toValue(whole, fields.default) };
}

/**
 * What a plugin is opened with: as `options` of its `[[plugins]]` entry says, else as declared. Throws for an option
 * that there is not and a value that it does not have.
 */
export function readOptions(declared: readonly ManifestOption[], given: Fields): Fields {
  const stray = Object.keys(given).find((name) => !declared.some((option) => option.name === name));
  if (stray !== undefined) {
    const names = declared.map(({ name }) => `\`${name}\``).join(', ');
    throw new TypeError(
      `expected ${names === '' ? 'no option' : `one of ${names}`}, found ${JSON.stringify(stray)}`,
    );
  }
  return Object.fromEntries(
    declared.flatMap((option) => {
      const value = given[option.name] ?? option.default;
      return value === undefined ? [] : [[option.name, toValue(option, value)]];
    }),
  );
}

function toValue({ name, type, values }: Omit<ManifestOption, 'says'>, value: unknown): OptionValue {
  const isOfType = typeof value === type && (typeof value !== 'string' || value.length <= maxText);
  if (isOfType && (values === undefined || values.includes(value as OptionValue)))
    return value as OptionValue;
  const expected =
    values === undefined ? `a ${type}` : `one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;
  throw new TypeError(`option \`${name}\`: expected ${expected}`);
}
