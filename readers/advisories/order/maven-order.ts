import { compareDigits, compareText } from '../compare-versions.ts';

type Item =
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'combination'; readonly word: string; readonly digits: string }
  | { readonly kind: 'list'; readonly items: Item[] };

const qualifiers: readonly string[] = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const releases: ReadonlySet<string> = new Set(['ga', 'final', 'release']);
const letters: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', m: 'milestone' };
const maxDepth = 64;

/**
 * Order of Maven's ComparableVersion (POM reference, version order specification). Every text is a version, up to a
 * bound of nesting.
 */
export function compareMaven(left: string, right: string): number | undefined {
  const a = parse(left);
  const b = parse(right);
  return a && b ? compareItems(a, b) : undefined;
}

function parse(text: string): Item | undefined {
  const version = text.toLowerCase();
  const root: Item & { kind: 'list' } = { kind: 'list', items: [] };
  const stack = [root];
  let list = root;
  let isDigit = false;
  let isCombination = false;
  let start = 0;
  const nest = (): void => {
    const inner: Item & { kind: 'list' } = { kind: 'list', items: [] };
    list.items.push(inner);
    stack.push(inner);
    list = inner;
  };
  for (let at = 0; at < version.length; at += 1) {
    const letter = version[at] ?? '';
    if (letter === '.') {
      list.items.push(at === start ? zero : toItem(version.slice(start, at), isCombination, isDigit));
      isCombination = false;
      start = at + 1;
    } else if (letter === '-') {
      if (at === start) list.items.push(zero);
      else {
        // X-1 is X1.
        if (!isDigit && /\d/.test(version[at + 1] ?? '')) {
          isCombination = true;
          continue;
        }
        list.items.push(toItem(version.slice(start, at), isCombination, isDigit));
      }
      start = at + 1;
      nest();
      isCombination = false;
    } else if (letter >= '0' && letter <= '9') {
      if (!isDigit && at > start) {
        isCombination = true;
        if (list.items.length > 0) nest();
      }
      isDigit = true;
    } else {
      if (isDigit && at > start) {
        list.items.push(toItem(version.slice(start, at), isCombination, true));
        start = at;
        nest();
        isCombination = false;
      }
      isDigit = false;
    }
    if (stack.length > maxDepth) return undefined;
  }
  if (version.length > start) {
    // .X is -X for every word X.
    if (!isDigit && list.items.length > 0) nest();
    list.items.push(toItem(version.slice(start), isCombination, isDigit));
  }
  for (const one of stack.reverse()) normalize(one.items);
  return root;
}

const zero: Item = { kind: 'number', digits: '0' };

function toItem(text: string, isCombination: boolean, isDigit: boolean): Item {
  if (isCombination) {
    const plain = text.replaceAll('-', '');
    const at = plain.search(/\d/);
    const word = plain.slice(0, at);
    return { kind: 'combination', word: alias(letters[word] ?? word), digits: plain.slice(at) };
  }
  return isDigit ? { kind: 'number', digits: text } : { kind: 'word', word: alias(text) };
}

function alias(word: string): string {
  return word === 'cr' ? 'rc' : word;
}

/** Takes away what counts for nothing: zeros at the end, and those before a word. */
function normalize(items: Item[]): void {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined || !isNothing(item)) continue;
    const next = items[at + 1];
    const first = next?.kind === 'list' ? next.items[0]?.kind : undefined;
    if (next === undefined || next.kind === 'word' || first === 'combination' || first === 'word')
      items.splice(at, 1);
  }
}

function isNothing(item: Item): boolean {
  if (item.kind === 'number') return /^0*$/.test(item.digits);
  if (item.kind === 'word') return item.word === '';
  return item.kind === 'list' && item.items.length === 0;
}

function compareItems(left: Item, right: Item | undefined): number {
  if (right === undefined) return compareWithNothing(left);
  const rank = ranks[left.kind] - ranks[right.kind];
  if (left.kind === 'number' && right.kind === 'number') return compareDigits(left.digits, right.digits);
  if (left.kind === 'list' && right.kind === 'list') {
    for (let at = 0; at < Math.max(left.items.length, right.items.length); at += 1) {
      const a = left.items[at];
      const b = right.items[at];
      const order = a ? compareItems(a, b) : b ? -compareItems(b, undefined) : 0;
      if (order !== 0) return order;
    }
    return 0;
  }
  if ('word' in left && 'word' in right) {
    const order = compareText(ordered(left.word), ordered(right.word));
    if (order !== 0 || rank !== 0) return order || rank;
    return 'digits' in left && 'digits' in right ? compareDigits(left.digits, right.digits) : 0;
  }
  return rank;
}

/** Kinds against each other: 1.word < 1.word1 (where the words are equal) < 1-1 < 1.1. */
const ranks: Readonly<Record<Item['kind'], number>> = { word: 0, combination: 1, list: 2, number: 3 };

function compareWithNothing(item: Item): number {
  if (item.kind === 'number') return /^0*$/.test(item.digits) ? 0 : 1;
  if (item.kind !== 'list') return compareText(ordered(item.word), String(qualifiers.indexOf('')));
  for (const one of item.items) {
    const order = compareWithNothing(one);
    if (order !== 0) return order;
  }
  return 0;
}

function ordered(word: string): string {
  if (releases.has(word)) return String(qualifiers.indexOf(''));
  const known = qualifiers.indexOf(word);
  return known === -1 ? `${qualifiers.length}-${word}` : String(known);
}
