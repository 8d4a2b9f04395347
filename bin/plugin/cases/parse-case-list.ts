import { messageOf } from '../../../core/base/errors.ts';
import { type Fields, parseList, parseText, toFields } from '../../../core/base/parse-fields.ts';

const maxCases = 500;

/**
 * Cases that hold no member but `known` ones, each with a name of its own, read by `parse`; absent: none. Throws for
 * the first fault, with its case.
 */
export function parseCaseList<T>(
  given: unknown,
  known: readonly string[],
  parse: (fields: Fields) => T,
): readonly T[] {
  const names = new Set<string>();
  let count = 0;
  return parseList(
    given ?? [],
    (item) => {
      count += 1;
      let called = `case ${count}`;
      try {
        const fields = toFields(item, 'a case', ['name', ...known]);
        const name = parseText(fields, 'name', 200);
        called = `case \`${name}\``;
        if (names.has(name)) throw new TypeError('expected a `name` of its own, got that of another case');
        names.add(name);
        return parse(fields);
      } catch (fault) {
        throw new TypeError(`${called}: ${messageOf(fault)}`, { cause: fault });
      }
    },
    maxCases,
  );
}
