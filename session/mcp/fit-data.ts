import type { JsonData } from '../../api/json-data.ts';
import { WritError } from '../../core/base/errors.ts';

/**
 * Data that goes into an answer of `maxBytes`: where it does not, its longest lists are shortened, and `truncated` says
 * how long each was. OUTPUT_TOO_LARGE where there is nothing to shorten.
 */
export function fitData(data: JsonData, maxBytes: number): JsonData {
  const lengths = new Map<string, number>();
  let fitted: JsonData = data;
  while (Buffer.byteLength(JSON.stringify(fitted)) > maxBytes) {
    const longest = Object.entries(fitted)
      .filter(
        (entry): entry is [string, readonly unknown[]] => Array.isArray(entry[1]) && entry[1].length > 0,
      )
      .map(([name, list]) => ({ name, list, bytes: JSON.stringify(list).length }))
      .sort((a, b) => b.bytes - a.bytes)[0];
    if (longest === undefined) {
      const message = `the answer has more than ${maxBytes} bytes`;
      throw new WritError('OUTPUT_TOO_LARGE', {
        message,
        hints: ['ask for less, or read it with `writ` itself'],
      });
    }
    const { name, list } = longest;
    if (!lengths.has(name)) lengths.set(name, list.length);
    const half = list.slice(0, Math.floor(list.length / 2));
    fitted = { ...fitted, [name]: half, truncated: Object.fromEntries(lengths) };
  }
  return fitted;
}
