import { compareDigits } from './digits.ts';

const classic =
  /^v?(\d{1,5})(\.\d+)?(\.\d+)?(\.\d+)?[._-]?(?:(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?\d+)*)?)?([.-]?dev)?$/;
const dated =
  /^v?(\d{4}(?:[.:-]?\d{2}){1,6}(?:[.:-]?\d{1,3})?)[._-]?(?:(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?\d+)*)?)?([.-]?dev)?$/;
const stability: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', p: 'patch', pl: 'patch' };
/** Words as PHP's version_compare ranks them; what it does not know comes first. `#` stands for a number. */
const ranks: Readonly<Record<string, number>> = {
  dev: 1,
  alpha: 2,
  a: 2,
  beta: 3,
  b: 3,
  rc: 4,
  '#': 5,
  pl: 6,
  p: 6,
  patch: 6,
};

/**
 * Order of Composer: its normal form, compared as PHP's version_compare does. `undefined` for branches and what is no
 * version.
 */
export function compareComposer(left: string, right: string): number | undefined {
  const a = parts(left);
  const b = parts(right);
  if (!a || !b) return undefined;
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const one = a[at];
    const other = b[at];
    if (one !== undefined && other !== undefined) {
      const order =
        /^\d/.test(one) && /^\d/.test(other) ? compareDigits(one, other) : rankOf(one) - rankOf(other);
      if (order !== 0) return order;
    } else {
      const rest = one ?? other ?? '';
      // A further number makes it later; a word says what it is.
      const order = /^\d/.test(rest) ? 1 : rankOf(rest) - rankOf('#');
      if (order !== 0) return one === undefined ? -order : order;
    }
  }
  return 0;
}

function rankOf(part: string): number {
  return /^\d/.test(part) ? (ranks['#'] ?? 0) : (ranks[part] ?? 0);
}

function parts(text: string): readonly string[] | undefined {
  const version = text
    .trim()
    .toLowerCase()
    .replace(/@(?:stable|rc|beta|alpha|dev)$/, '')
    .replace(/^([^,\s+]+)\+\S+$/, '$1');
  const found = classic.exec(version);
  if (found) {
    const [, major = '', minor, patch, fourth, word, number, dev] = found;
    const core = [major, ...[minor, patch, fourth].map((part) => part?.slice(1) ?? '0')];
    return [...core, ...modifier(word, number, dev)];
  }
  const [, date, word, number, dev] = dated.exec(version) ?? [];
  if (date === undefined) return undefined;
  return [...date.split(/\D/), ...modifier(word, number, dev)];
}

function modifier(word: string | undefined, number = '', dev: string | undefined): readonly string[] {
  const stated =
    word === undefined || word === 'stable' ? [] : [stability[word] ?? word, ...(number.match(/\d+/g) ?? [])];
  return [...stated, ...(dev === undefined || word === 'stable' ? [] : ['dev'])];
}
