import type { RuleInput } from '../../core/contract/rule.ts';

/** Line of the candidate file on which a JSON key stands; `undefined` where it cannot be found. */
export function lineOfKey(input: RuleInput, path: string, key: string): number | undefined {
  const bytes = input.files[path]?.candidate;
  if (!bytes) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = text.indexOf(`${JSON.stringify(key)}:`);
  if (at === -1) return undefined;
  let line = 1;
  for (let feed = text.indexOf(10); feed !== -1 && feed < at; feed = text.indexOf(10, feed + 1)) line += 1;
  return line;
}
