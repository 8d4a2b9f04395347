/* Reads a value to the end that its container sets: a quote, an element, a pair, a word of a command or a line. */

export interface AssignedValue {
  readonly start: number;
  readonly end: number;
  /** Not in quotes or a tag of its own: in program text, an expression. */
  readonly isBare: boolean;
  /** All of its line behind the sign. */
  readonly isLine: boolean;
  /** What signs of program text would show to be an expression: the value with what closes it, or nothing. */
  readonly written: string;
}

/** A secret-like name and the sign behind it. */
export interface Assignment {
  /** Text before the name. */
  readonly before: string;
  /** The name is an option, `--password`. */
  readonly isFlag: boolean;
  /** No blank is beside the sign. */
  readonly isTight: boolean;
  /** A quote closes the name. */
  readonly isClosed: boolean;
  readonly sign: string;
  readonly bracket: string | undefined;
  /** End of line between the sign and the value. */
  readonly below: string | undefined;
  /** Text between a name that is a value itself and the word `value`. */
  readonly gap: string | undefined;
}

const leastValue = 8;
const maxValue = 256;
/** Of a value behind an option of a command. */
const leastWritten = 5;
const opening = /(?:[A-Za-z]{1,2}|@)?(?<quote>\\{0,3}["'`])/y;

/** By what is around a value without quotes: the longest run of its characters, and what follows it. */
const bareForms = {
  element: [/[^<\n\s][^<\n]{6,253}[^<\n\s]/y, /(?:\]\]>)?\s{0,40}[+-]?\s{0,80}<\//y],
  query: [/(?:[^\s"'`<>&#]|<(?!\/)){8,256}/y, /[\s"'`<>&#,;)\]}\\]|$/y],
  connection: [/[^\s"'`;]{8,256}/y, /[\s"'`;]|$/y],
  line: [/[^\s"'`][^\s"`]{7,255}/y, /[,;)\]}'\\]{0,8}[ \t]{0,40}(?:#[^\n]{0,200})?(?:\r?\n|$)/y],
  word: [/[^\s"'`][^\s"`]{7,255}/y, /[,;)\]}'\\]{0,8}(?:\s|$)/y],
  operand: [/[^\s"'`,;<>(){}[\]&|#\\]{8,256}/y, /[\s,;<&"'`\\)}\]]|$/y],
} as const;
type Container = keyof typeof bareForms;
/** Of every such value: the cheapest look at it. */
const bareHead = /[^\s"'`][^\s"`]{7}/y;
const commandWord = /[^\s"'`\\|;&<>$]{1,256}/y;
const closers = /[,;)\]}'\\]{1,8}$/;
/** The next one in a list of names and values. */
const nextPair = /[&;,?] ?[A-Za-z_][\w .-]{1,40}[=:](?!$)/;

/** The quote of a literal that begins with the name or the list in which the name is. */
const outerQuote = /(\\{0,3}["'`])[\w./:@&?%=-]{0,60}$/;
const queryBefore = /[?&](?:amp;)?[\w.-]{0,40}$/;
const connectionBefore = /;[ \t]{0,4}(?:\w{1,8} )?$/;
const lineBefore = /(?:^|\n)[+-]?[ \t]{0,40}(?:export |- )?[[\w./:@-]{0,60}$/;
const wordBefore = /(?:^|[\s"'`])[+-]?[\w./:@-]{0,60}$/;

/** Values that may begin at `at`, the likeliest first. */
export function* valuesAt(text: string, at: number, assigned: Assignment): Generator<AssignedValue> {
  const { before, sign, below, gap } = assigned;
  const outer = assigned.isClosed ? undefined : outerQuote.exec(before)?.[1];
  const { 0: opened = '', groups: { quote = '' } = {} } = exec(opening, text, at) ?? {};
  // The quote may end the literal with the name: `'password=' + x`.
  if (quote !== '' && quote === outer) return;
  if (quote !== '') yield* readQuoted(text, at + opened.length, quote);
  // In a call or a list a value must be quoted; elsewhere a bracket may be its first sign.
  if (['(', ',', '::'].includes(sign)) return;
  const start = below === undefined ? at - (assigned.bracket ?? '').length : at;
  if (!exec(bareHead, text, start)) return;
  if (outer !== undefined && below === undefined && gap === undefined && !queryBefore.test(before))
    yield* readQuoted(text, start, outer, nextPair);
  for (const container of containersOf(assigned)) yield* readBare(text, start, container);
}

function containersOf({ before, isFlag, isTight, sign, below, gap }: Assignment): readonly Container[] {
  if (sign.startsWith('>')) return ['element'];
  // On a line below its name, a value must be the whole line.
  if (below !== undefined) return sign === ':' || below.trimStart().startsWith('\\') ? ['line'] : [];
  const isPair = gap === undefined && sign === '=' && isTight;
  if (isPair && queryBefore.test(before)) return ['query', 'operand'];
  if (isPair && connectionBefore.test(before)) return ['connection', 'operand'];
  const isLine = gap === undefined ? !isFlag && lineBefore.test(before) : gap.includes('\n');
  return [
    ...(isLine ? (['line'] as const) : []),
    ...((isPair || isFlag) && wordBefore.test(before) ? (['word'] as const) : []),
    'operand',
  ];
}

/** A value up to its quote, or up to what divides it from the next name in the same quotes. */
function* readQuoted(text: string, start: number, quote: string, divider?: RegExp): Generator<AssignedValue> {
  const close = endOfQuoted(text, start, quote);
  if (close === undefined) return;
  const found = text.slice(start, close);
  const cut = divider ? found.search(divider) : -1;
  const end = cut < 0 ? close : start + cut;
  if (end - start < leastValue) return;
  const isBare = divider !== undefined;
  yield { start, end, isBare, isLine: false, written: isBare ? text.slice(start, end) : '' };
}

function* readBare(text: string, start: number, container: Container): Generator<AssignedValue> {
  const [form, rest] = bareForms[container];
  const [run = ''] = exec(form, text, start) ?? [];
  const mayBeList = container !== 'element' && container !== 'operand';
  const cut = mayBeList ? run.search(nextPair) : -1;
  const whole = cut < 0 ? run : run.slice(0, cut);
  const end = start + whole.replace(container === 'element' ? /\]\]>$/ : closers, '').length;
  if (end - start < leastValue || (cut < 0 && !exec(rest, text, end))) return;
  const isString = container === 'connection' && /[;"']/.test(text.charAt(end));
  yield {
    start,
    end,
    isBare: container !== 'element' && !isString,
    isLine: container === 'line',
    written: mayBeList ? whole : '',
  };
}

/**
 * Where a value ends that a quote opened, on the same line: at the same quote behind as many backslashes, where
 * neither an escape (`\"` in `"`, `\\\"` in `\"`) nor a second quote (`''`, `'\''` of a shell) makes it a part.
 */
export function endOfQuoted(text: string, from: number, quote: string): number | undefined {
  const depth = quote.length - 1;
  const mark = quote.charAt(depth);
  const [part = ''] = text.slice(from, from + maxValue + quote.length).split('\n', 1);
  let first: number | undefined;
  for (let at = part.indexOf(mark); at >= 0; at = part.indexOf(mark, at + 1)) {
    let escapes = 0;
    while (part.charAt(at - escapes - 1) === '\\') escapes += 1;
    if ((escapes - depth) % (2 * quote.length) !== 0) continue;
    const again = [mark, `\\${mark}${mark}`].find(
      (one) => depth === 0 && at > 0 && part.startsWith(one, at + 1),
    );
    if (again === undefined) return from + at - depth;
    first ??= from + at;
    at += again.length;
  }
  return first;
}

/** Where a word of a command ends that goes on at `from`, behind the quote that its line may lack the end of. */
export function endOfWord(text: string, from: number, quote?: string): number | undefined {
  const closed = quote === undefined ? undefined : endOfQuoted(text, from, quote);
  const end = closed ?? from + (exec(commandWord, text, from)?.[0].length ?? 0);
  return end - from >= leastWritten ? end : undefined;
}

/** A sticky form at an offset. */
export function exec(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}
