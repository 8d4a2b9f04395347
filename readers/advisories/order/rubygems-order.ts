import { compareDigits, compareText } from './digits.ts';

const form = /^[0-9]+(?:\.[0-9a-z]+)*(?:-[0-9a-z-]+(?:\.[0-9a-z-]+)*)?$/i;

/** Order of Gem::Version. `undefined` where one of the two is no such version. */
export function compareRubyGems(left: string, right: string): number | undefined {
  const a = segments(left);
  const b = segments(right);
  if (!a || !b) return undefined;
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const one = a[at] ?? '0';
    const other = b[at] ?? '0';
    const isNumber = /^\d/.test(one);
    // A word stands for a pre-release and comes before every number.
    if (isNumber !== /^\d/.test(other)) return isNumber ? 1 : -1;
    const order = isNumber ? compareDigits(one, other) : compareText(one, other);
    if (order !== 0) return order;
  }
  return 0;
}

/** Canonical segments: without zeros at the end of the release and of the pre-release. */
function segments(text: string): readonly string[] | undefined {
  const version = text.trim();
  if (!form.test(version)) return undefined;
  const parts = version.replaceAll('-', '.pre.').match(/[0-9]+|[a-z]+/gi) ?? [];
  const word = parts.findIndex((part) => !/^\d/.test(part));
  const at = word === -1 ? parts.length : word;
  return [...withoutZeros(parts.slice(0, at)), ...withoutZeros(parts.slice(at))];
}

function withoutZeros(parts: readonly string[]): readonly string[] {
  const last = parts.findLastIndex((part) => !/^0+$/.test(part));
  return parts.slice(0, last + 1);
}
