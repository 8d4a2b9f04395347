import type { Language } from '../../readers/source/language.ts';
import { type Bracket, type Outline, outlineOf } from './outline.ts';

/** A literal list in code. */
export interface Rows {
  readonly at: number;
  readonly count: number;
}

/** Lists from which tests are made. */
export interface RowsOfTests {
  /** By name, of lists that are gone through: how many rows each has. */
  readonly named: ReadonlyMap<string, Rows>;
  /** Lists without a name that stand where rows are given: decorators, annotations, heads of loops. */
  readonly inline: readonly Rows[];
  /** Where a list that is gone through is cut, filtered or emptied; its name, where it has one. */
  readonly cuts: readonly { readonly at: number; readonly name?: string }[];
}

const given =
  /(?:\bparametrize\s*|\.each\s*|\beach\s*|\b(?:ValueSource|CsvSource|EnumSource|MethodSource|TestCaseSource)\s*|\bfor\s*|\bwithData\s*|\btable\s*)$/;
const assigned =
  /(?:^|[\s(])[$@]?(\w{1,80})\s*(?::[^=\n]{0,120})?(?::=|=)\s*(?:[\w.<>[\]*& ]{0,120}|new\s+[\w<>[\]]{1,80}|\[\]struct\s*\{[^{}]{0,1000}\}|\[\][\w.*]{1,80}|vec!|Arrays\.asList|List\.of|listOf|Stream\.of)\s*$/;
const maxNames = 80;

/** Reads them; `code` is without what strings and comments hold. */
export function rowsOfTests(code: string, text: string, language: Language, known?: Outline): RowsOfTests {
  const outline = known ?? outlineOf(code);
  const lists = new Map<string, Rows>();
  const inline: Rows[] = [];
  for (const [number, bracket] of outline.brackets.entries()) {
    const isInline = isGiven(code, outline, bracket);
    const name = isInline ? undefined : nameOf(outline, bracket, language);
    if (name !== undefined) {
      // The rows of a list behind its type are in the last bracket of the statement.
      const earlier = lists.get(name);
      const isSame = earlier !== undefined && outline.startOf(earlier.at) === outline.startOf(bracket.open);
      if (!earlier || isSame) lists.set(name, { at: bracket.open, count: countRows(code, outline, number) });
    } else if (isInline) inline.push({ at: bracket.open, count: countRows(code, outline, number) });
  }
  const candidates = [...lists.keys()].slice(0, maxNames);
  if (candidates.length === 0) return { named: lists, inline, cuts: cutsOfInline(code, outline, inline) };
  const any = `(?:${candidates.join('|')})`;
  const walked = new RegExp(
    String.raw`(?:\b(?:of|in|range|foreach\s*\()\s+[$&@*]{0,2}|\bforeach\s*\(\s*\$|\beach\s*\(\s*|\bparametrize\s*\([^()\n]{0,200},\s*|\bTestCaseSource\(\s*nameof\()(${any})\b|(?<![\w.])[$@]?(${any})(?:\.\w{1,20}(?:\([^()\n]{0,80}\))?){0,2}\.(?:forEach|map|each|iter|each_with_index|for_each|into_iter)\b`,
    'g',
  );
  // Annotations give names in comments and strings.
  const annotated = new RegExp(
    String.raw`(?:@dataProvider\s+|\bDataProvider\w*\(\s*["']|\bMethodSource\(\s*["'])(${any})\b`,
    'g',
  );
  const names = new Set(
    [...code.matchAll(walked), ...text.matchAll(annotated)].map((match) => match[1] ?? match[2] ?? ''),
  );
  const named = new Map([...lists].filter(([name]) => names.has(name)));
  if (names.size === 0) return { named, inline, cuts: cutsOfInline(code, outline, inline) };
  const own = `(?:${[...names].join('|')})`;
  const cut = new RegExp(
    [
      String.raw`(?<![\w.])[$@]?${own}\s*\.\s*(?:filter|slice|splice|toSpliced|pop|shift|clear|clone\(\)\.take|take|first|drop|select|reject|truncate|removeIf|limit)\b`,
      String.raw`(?<![\w.])${own}\.length\s*=(?![=>])`,
      String.raw`(?<![\w.])(?:${own})\s*\[[^\]\n]{0,40}:[^\]\n]{0,40}\]`,
      String.raw`\bdel\s+${own}\b`,
      String.raw`\bfor\s+\w{1,40}\s+in\s+${own}\s+if\b`,
      String.raw`\barray_(?:slice|filter|splice)\s*\(\s*\$?${own}\b`,
    ].join('|'),
    'g',
  );
  const cuts = [...code.matchAll(cut)].map(({ index, 0: said }) => ({
    at: index,
    name: said.match(/\w+/g)?.find((word) => names.has(word)) ?? '',
  }));
  return { named, inline, cuts: [...cuts, ...cutsOfInline(code, outline, inline, named)] };
}

/** `[ … ].slice(3)`, `[ … ][:0]`. */
function cutsOfInline(
  code: string,
  outline: Outline,
  inline: readonly Rows[],
  named: ReadonlyMap<string, Rows> = new Map(),
): RowsOfTests['cuts'] {
  const names = new Map<number, string | undefined>(inline.map(({ at }) => [at, undefined]));
  for (const [name, { at }] of named) names.set(at, name);
  const form = /^\s*(?:\.\s*(?:filter|slice|splice|take|drop)\b|\[[^\]\n]{0,20}:[^\]\n]{0,20}\])/;
  return outline.brackets
    .filter(({ open, close }) => names.has(open) && form.test(code.slice(close + 1, close + 80)))
    .map(({ open, close }) => {
      const name = names.get(open);
      return name === undefined ? { at: close } : { at: close, name };
    });
}

function nameOf(outline: Outline, bracket: Bracket, language: Language): string | undefined {
  if (bracket.mark === '(' && language !== 'python' && language !== 'ruby') {
    const header = outline.header(bracket);
    if (!/(?:Arrays\.asList|List\.of|listOf|Stream\.of|arrayOf|setOf)\s*$/.test(header)) return undefined;
    return assigned.exec(header)?.[1];
  }
  const header = outline.header(bracket);
  if (language === 'php' && bracket.mark === '[' && /\breturn\s*$/.test(header)) {
    const body = outline.brackets[bracket.parent];
    return /\bfunction\s+(\w{1,80})\b[^{}]*$/.exec(body ? outline.header(body) : '')?.[1];
  }
  // A call is no list.
  if (bracket.mark === '(' && !/=\s*$/.test(header)) return undefined;
  return assigned.exec(header)?.[1];
}

function isGiven(code: string, outline: Outline, bracket: Bracket): boolean {
  if (bracket.mark === '(') return false;
  const header = outline.header(bracket);
  const parent = outline.brackets[bracket.parent];
  if (parent?.mark === '(') {
    const outer = outline.header(parent);
    if (/\bfor\s*$/.test(outer)) return /\b(?:of|in|:)\s*$/.test(header);
    return given.test(outer) && /^\s*(?:\w{1,20}\s*=\s*)?$/.test(header);
  }
  if (
    /\b(?:in|range)\s*(?:\[\][\w.*]{1,60}|\[\]struct\s*\{[^{}]{0,1000}\})?\s*$/.test(header) &&
    /\bfor\b/.test(header)
  )
    return true;
  return (
    bracket.mark === '[' &&
    /^\s*\.\s*(?:each|forEach|map)\b/.test(code.slice(bracket.close + 1, bracket.close + 40))
  );
}

/** Elements between a pair of brackets. */
function countRows(code: string, outline: Outline, number: number): number {
  const bracket = outline.brackets[number];
  if (!bracket) return 0;
  let count = 0;
  let from = bracket.open + 1;
  for (let steps = 0; from < bracket.close && steps < 100_000; steps += 1) {
    const next = Math.min(outline.endOf(from), bracket.close);
    if (/[^\s,;]/.test(code.slice(from, next))) count += 1;
    if (next <= from) break;
    from = next;
  }
  return count;
}
