import { type Fields, parseText, toFields } from '../../../core/base/parse-fields.ts';
import type { LogWire } from '../../../plugins/testers/served-log.ts';
import { optionsOf } from './case-members.ts';
import { within } from './within.ts';

/** What `cases.json` says of a log: how it is spoken to, and the options that lead the plugin to its declared host. */
export interface LogCase {
  readonly wire: LogWire;
  readonly options: Fields;
}

/** Words of an answer: of what is appended. */
const appended = ['$index', '$size', '$root', '$path', '$checkpoint', '$rootHex', '$pathHex'];

/** Reads it, with `consistency` where the manifest says that; throws for the first fault, with its member. */
export function parseLogCase(name: string, given: unknown, isProven = false): LogCase {
  const fields = toFields(given, `an object \`${name}\``, [
    'append',
    'size',
    ...(isProven ? ['consistency'] : []),
    'options',
  ]);
  return {
    wire: {
      append: within('append', () => {
        const append = toFields(fields.append, 'an object', ['path', 'field', 'json']);
        const field = append.field === undefined ? {} : { field: parseText(append, 'field', 64) };
        return { path: pathOf(append), ...field, json: templateOf(append, appended) };
      }),
      size: within('size', () => {
        const size = toFields(fields.size, 'an object', ['path', 'json']);
        return { path: pathOf(size), json: templateOf(size, ['$size']) };
      }),
      ...(isProven && { consistency: within('consistency', () => parseGrowth(fields.consistency)) }),
    },
    options: optionsOf(fields),
  };
}

/** Two sizes are asked for by the path. */
function parseGrowth(given: unknown): LogWire['size'] {
  const fields = toFields(given, 'an object, as the manifest says `consistency`', ['path', 'json']);
  const path = pathOf(fields);
  if (!path.includes('$from') || !path.includes('$to'))
    throw new TypeError('expected `path` to hold `$from` and `$to`');
  return { path, json: templateOf(fields, ['$path', '$pathHex']) };
}

function pathOf(fields: Fields): string {
  const path = parseText(fields, 'path', 2048);
  if (!path.startsWith('/')) throw new TypeError('expected `path` to begin with `/`');
  return path;
}

/** An answer in which only `words` stand for something; with none of them it would always be the same. */
function templateOf(fields: Fields, words: readonly string[]): unknown {
  const found = within('json', () => wordsIn(fields.json));
  const odd = found.find((word) => !words.includes(word));
  if (odd !== undefined)
    throw new TypeError(`\`json\`: expected one of ${words.join(', ')}, got \`${odd.slice(0, 40)}\``);
  if (found.length === 0)
    throw new TypeError(`\`json\`: expected at least one of ${words.join(', ')}, got none`);
  return fields.json;
}

function wordsIn(template: unknown): readonly string[] {
  if (typeof template === 'string') return template.startsWith('$') ? [template] : [];
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(wordsIn);
}
