/* Finds code in which a failed assertion has no effect. */
import type { Language } from '../../readers/source/language.ts';
import {
  type Bracket,
  bracketAt,
  indentOf,
  isOutline,
  type Layout,
  type Outline,
  type Shape,
  type Span,
} from './blocks.ts';

const never = String.raw`(?:false|False|FALSE|0|null|nil|None|undefined|void 0|NaN|!\s*(?:true|1)|not True|""|'')`;
const always = String.raw`(?:true|True|TRUE|1|!\s*(?:false|0)|not False)`;
const condition = String.raw`\(*\s*${never}\s*(?=\)|\{|$|;|:|&&|\band\b|\bdo\b|\bthen\b)`;

/** What begins a statement, or a part of one, that never runs. */
const statements = new RegExp(
  [
    String.raw`(?<![\w.$#])(?:if|while|elsif|elseif)\b\s*${condition}`,
    String.raw`(?<![\w.$#])(?:unless|until)\b\s*\(*\s*${always}\s*(?=\)|$|;|\bdo\b)`,
    String.raw`(?<![\w.$#])(?:if|while)\b[^\n{;]{1,200}&&\s*${never}\s*\)\s*(?=\{|[^\s&|])`,
    String.raw`(?<![\w.$)\]#=!<>+*/%-])(?<![=!<>+*/%&|-][ \t])${never}\s*&&`,
    String.raw`(?<![\w.$)\]#=!<>+*/%-])(?<![=!<>+*/%&|-][ \t])${always}\s*\|\|`,
    String.raw`(?<![\w.$])for\b[^\n{;]{1,120}\b(?:of|in)\s*(?:\[\s*\]|\(\s*\)|range\(\s*0\s*\)|0\s*\.\.\s*0\b)`,
    String.raw`(?<![\w.$])foreach\s*\(\s*\[\s*\]`,
    String.raw`(?<![\w.$])for\b[^\n{;]{1,120}\brange\s+\[\]\w[^\n]{0,200}\{\s*\}\s*(?=\{)`,
    String.raw`(?<![\w.$)\]])\[\s*\]\s*\.\s*(?:forEach|map|each|flatMap|every|some|for_each|iter)\b`,
    String.raw`(?<![\w.$])(?:Array\(0\)|new Array\(\)|0\.times|%w\[\s*\])\s*\.?\s*(?:forEach|map|each|do)\b`,
  ].join('|'),
  'gm',
);

/** Words that leave a block: the statements after them do not run. */
const leaving =
  /^\s*(?:return|throw|raise|break|continue|goto|(?:process|System|Environment)\.(?:exit|Exit)|os\.(?:Exit|_exit)|sys\.exit|process::exit|exit|die)\b(?!\s*[=:])/;
const alwaysLeaving = new RegExp(
  String.raw`^\s*if\b\s*\(*\s*${always}\s*\)*\s*(?:\{\s*|:\s*)?(?:return|throw|raise)\b`,
);

/** Words on a separate line after which no statement of the block runs. */
const leavingLines: Readonly<Partial<Record<Language, RegExp>>> = {
  python:
    /^[ \t]+(?:return\b|raise\b|continue\b|break\b|(?:sys\.exit|os\._exit|exit|quit|pytest\.(?:skip|exit)|self\.skipTest)\s*\()[^\n]*/gm,
  ruby: /^[ \t]+(?:return|next|break|exit!?|raise|throw)\b(?![^\n]*\b(?:if|unless)\b)[^\n]*/gm,
  elixir: /^[ \t]+(?:raise|throw|exit)\b[^\n]*/gm,
  shell: /^[ \t]+(?:return|exit)(?:[ \t]+0)?[ \t]*;?[ \t]*$/gm,
};
const alwaysLeavingLine = new RegExp(
  String.raw`^[ \t]*if\s+${always}\s*:?[ \t]*(?:\n[ \t]*)?(?:return|raise|next)\b`,
  'gm',
);

/**
 * Parts of code (`test-text.ts`) that never run: under a condition that is never true, in a loop over an empty list,
 * in an uncalled function, after a `return`.
 */
export function deadSpans(code: string, language: Language, shape: Shape): readonly Span[] {
  const spans: Span[] = [];
  for (const { index } of code.matchAll(statements)) spans.push([index, shape.endOf(index)]);
  if (isOutline(shape)) spans.push(...leftBlocks(code, shape));
  else spans.push(...leftLines(code, language, shape));
  spans.push(...uncalledSpans(code, language, shape));
  return spans;
}

/** Lines after a line that always leaves, with the same or more indentation. */
function leftLines(code: string, language: Language, layout: Layout): readonly Span[] {
  const form = leavingLines[language];
  if (!form) return [];
  const spans = [...code.matchAll(form)].map(
    ({ index, 0: line }): Span => [index + line.length, layout.restEnd(index)],
  );
  for (const { index, 0: said } of code.matchAll(alwaysLeavingLine))
    spans.push([index + said.length, layout.restEnd(index)]);
  return spans;
}

/** Code in a block after a statement that always leaves it. */
function leftBlocks(code: string, outline: Outline): readonly Span[] {
  const spans: Span[] = [];
  const seen = new Set<number>();
  const form =
    /(?<![\w.$])(?:return|throw|raise|break|continue|exit|die)\b|\b(?:process\.exit|System\.exit|os\.Exit|process::exit)\b/g;
  for (const { index } of code.matchAll(form)) {
    const number = outline.around(index);
    const block = outline.brackets[number];
    if (!block) continue;
    const start = outline.startOf(index);
    const statement = code.slice(start, start + 200);
    if (block.mark === '{' && !seen.has(number) && leaving.test(statement) && !isSwitch(outline, block)) {
      seen.add(number);
      spans.push([outline.endOf(index), hoisted(code, outline.endOf(index), block.close)]);
    }
    if (alwaysLeaving.test(statement)) spans.push([outline.endOf(index), block.close]);
    // `if (true) { return; }`: the code after the block.
    else if (block.mark === '{' && alwaysLeaving.test(code.slice(block.start, block.start + 200)))
      spans.push([block.close, outline.brackets[block.parent]?.close ?? block.close]);
  }
  return spans;
}

/** A function that is declared there is known before. */
function hoisted(code: string, from: number, to: number): number {
  const found = code.slice(from, Math.min(to, from + 5_000)).search(/\b(?:async\s+)?function\s+\w/);
  return found === -1 ? to : from + found;
}

function isSwitch(outline: Outline, block: Bracket): boolean {
  return /\b(?:switch|when|match|select)\b/.test(outline.header(block));
}

const closure = String.raw`(?:async\b\s*)?(?:function\b|func\s*\(|fun\s*\(|lambda\b|\([^()\n]{0,200}\)\s*(?::[^=\n]{0,80})?(?:=>|->)|\w{1,60}\s*(?:=>|->)|(?:move\s*)?\|[^|\n]{0,200}\||\[[&=]?\]\s*[({]|sub\b|->)`;
const values = String.raw`(?<![\w.])[$@]?(\w{1,80})\s*(?::[^=\n;]{0,80})?(?::=|=)\s*(?=${closure})`;
const named: Readonly<Partial<Record<Language, string>>> = {
  javascript: String.raw`\b(?:function\s*\*?|class)\s+(\w{1,80})`,
  python: String.raw`^[ \t]+(?:async[ \t]+)?def[ \t]+(?!test)(\w{1,80})`,
  rust: String.raw`\bmacro_rules!\s*(\w{1,80})`,
};

/** Functions with a name that occurs only once in the file: no code calls, passes or exports them. */
function uncalledSpans(code: string, language: Language, shape: Shape): readonly Span[] {
  const uses = new Map<string, number>();
  for (const [word] of code.matchAll(/\w+/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
  const form = new RegExp(named[language] ? `${values}|${named[language]}` : values, 'gm');
  return [...code.matchAll(form)].flatMap((match): Span[] => {
    const name = match[1] ?? match[2] ?? '';
    const from = match.index + Math.max(0, match[0].search(/\S/));
    const start = isOutline(shape) ? shape.startOf(from) : code.lastIndexOf('\n', from) + 1;
    if (
      uses.get(name) !== 1 ||
      /\bexports?\b|\bdefault\b|[.\](,]\s*$/.test(
        code.slice(Math.max(0, Math.min(start, from - 20), from - 200), from),
      )
    )
      return [];
    return [[from, shape.endOf(match[1] !== undefined ? match.index + match[0].length : from)]];
  });
}

/** Code of a handler that passes a failure on. */
const passesOn =
  /\b(?:throw|rethrow|raise|fail|fails|flunk|assert\w{0,40}|expect\w{0,40}|should\w{0,40}|reject|panic|abort|XCTFail|Fail|Fatal|Fatalf|Error|Errorf|done|next|cb|callback|reraise|exit|die|croak)\b\s*(?:[(!.:=;}\n]|\w|["'$*]|$)|[!=]==?\s*(?:null|undefined)/;
/** Types in a handler that also catch a failed assertion, if the handler names types. */
const takesFailures: Readonly<Partial<Record<Language, RegExp>>> = {
  java: /\b(?:Throwable|\w*Error|\w*Failure)\b/,
  kotlin: /\b(?:Throwable|\w*Error|\w*Failure)\b/,
  scala: /\b(?:Throwable|\w*Error|TestFailedException|Exception|_)\b|^\s*$/,
  csharp: /^\s*$|\b(?:Exception|\w*Assert\w*|Xunit\w*)\b(?!\s*\w*\.)/,
  php: /\b(?:Throwable|Exception|\w*Assertion\w*|ExpectationFailed\w*)\b/,
  c: /\.\.\./,
  elixir: /./,
};
const failures =
  /\b(?:AssertionError|AssertionFailedError|Assertion|AssertionException|XunitException|Throwable|BaseException|Exception|Error|ExpectationFailedException|ExpectationNotMetError|TestFailedException)\b/;
const plainAssertion =
  /(?<![\w.])(?:assert|Assert|Assertions)\s*[.(!]|(?<![\w.])expect\s*(?:\(|\.\w+\s*\()|(?<![\w.])assert(?:_\w+|[A-Z]\w*)?\s*[(!]|(?<![\w.])assert\s+\S|\b(?:EXPECT|ASSERT)_\w+\s*\(|\$this->assert|\bt\.(?:equal|ok|same)\b/;

/** Code that signals completion. */
const waits = /\b(?:done|resolve|reject|next|cb|callback|end|t\.\w+)\b/;

/**
 * Parts of code in which a failed assertion has no effect: caught, expected to fail, or in a promise without `await`.
 */
export function swallowedSpans(code: string, language: Language, shape: Shape): readonly Span[] {
  if (!isOutline(shape)) {
    if (language === 'python') return pythonSpans(code, shape);
    return language === 'shell' ? shellSpans(code) : rescuedSpans(code, language, shape);
  }
  return shape.brackets.flatMap((one) => {
    const span = ofBracket(code, language, shape, one);
    return span ? [span] : [];
  });
}

function ofBracket(code: string, language: Language, outline: Outline, one: Bracket): Span | undefined {
  const header = outline.header(one).trim();
  if (one.mark === '{') {
    if (/(?:^|[^\w.$])try$/.test(header) || (header === 'try' && language !== 'swift'))
      return isCaught(code, language, outline, one) ? [one.open, one.close] : undefined;
    if (
      /\brunCatching$/.test(header) &&
      !/^\s*\.\s*(?:getOrThrow|onFailure|isSuccess|isFailure|exceptionOrNull)/.test(after(code, one))
    )
      return [one.open, one.close];
    return undefined;
  }
  if (one.mark !== '(') return undefined;
  const holder = outline.brackets[one.parent];
  const isStatement = holder === undefined || holder.mark === '{';
  if (language === 'javascript') {
    if (/^(?:await\s+|void\s+)?Promise\.allSettled$/.test(header)) return [one.open, one.close];
    // An async function that is called without `await`.
    if (
      isStatement &&
      /^(?:void)?$/.test(header) &&
      /^\s*async\b/.test(inside(code, one)) &&
      /^\s*\(\s*\)\s*(?:;|\n|$)/.test(after(code, one))
    )
      return [one.open, one.close];
    if (
      isStatement &&
      /^(?:void\s+)?[\w.$]+\([^;]*\)\s*\.then$/s.test(header) &&
      !waits.test(inside(code, one)) &&
      !/^\s*\.\s*(?:then|catch|finally)/.test(after(code, one))
    )
      return [one.open, one.close];
    if (/\.catch$/.test(header) || (/\.then$/.test(header) && hasSecond(code, outline, one)))
      return passesOn.test(inside(code, one)) ? undefined : [one.start, one.open];
    if (
      isStatement &&
      /^(?:void\s+)?(?:(?:\w*[Aa]ssert\w*)(?:\.\w+)?\.(?:rejects|doesNotReject)|expect\b[^;]*\.(?:rejects|resolves)\b[^;]*)$/s.test(
        header,
      )
    )
      return /^\s*\.\s*\w/.test(after(code, one)) ? undefined : [one.start, one.close];
    if (
      isStatement &&
      /^(?:setTimeout|setImmediate|setInterval|queueMicrotask|process\.nextTick|(?:process|\w+)\.(?:on|once))$/.test(
        header,
      ) &&
      !waits.test(inside(code, one))
    )
      return [one.open, one.close];
  }
  if (language === 'rust')
    return /^(?:let\s+_\w*\s*=|_\s*=)?\s*(?:std::)?(?:panic::)?catch_unwind$/.test(header)
      ? [one.open, one.close]
      : undefined;
  if (language === 'scala')
    return /\bTry$/.test(header) && !/^\s*\.\s*(?:get|isSuccess|isFailure)/.test(after(code, one))
      ? [one.open, one.close]
      : undefined;
  if (/\bEXPECT_(?:NON)?FATAL_FAILURE(?:_ON_ALL_THREADS)?$/.test(header)) return [one.start, one.close];
  if (
    /(?:^|[^\w$])(?:\w+\.)?(?:assert_?|should)?_?(?:throws|rejects|Throws\w*|raises|ThrowsAny|ThrowsException\w*|FailsWith)\s*(?:<[\w.]{0,80}>)?$/i.test(
      header,
    )
  ) {
    const said = inside(code, one);
    const isWide =
      language === 'javascript' || failures.test(said.slice(0, 120)) || failures.test(header.slice(-80));
    return isWide && plainAssertion.test(said) ? [one.start, one.close] : undefined;
  }
  return undefined;
}

/** Whether a handler after a `try` swallows the exception, or a `finally` leaves. */
function isCaught(code: string, language: Language, outline: Outline, one: Bracket): boolean {
  let close = one.close;
  for (let count = 0; count < 10; count += 1) {
    const next = /^[\s]*(catch|finally|except)\b\s*/.exec(code.slice(close + 1, close + 200));
    if (!next) return false;
    const open = close + 1 + next[0].length;
    const group = code[open] === '(' ? bracketAt(outline, open) : undefined;
    const body = bracketAt(outline, nextBrace(code, group ? group.close + 1 : open));
    if (!body) return false;
    const said = inside(code, body);
    if (next[1] === 'finally') {
      if (/(?:^|[;{}\n])\s*(?:return|break|continue)\b/.test(said)) return true;
    } else {
      const takes = takesFailures[language];
      const type = code.slice(open, body.open);
      const isWide =
        takes === undefined ||
        takes.test(group ? inside(code, group) : type) ||
        (language === 'scala' && takes.test(said));
      if (isWide && !passesOn.test(said)) return true;
    }
    close = body.close;
  }
  return false;
}

function nextBrace(code: string, from: number): number {
  const found = /^[^{};]{0,200}\{/.exec(code.slice(from, from + 210));
  return found ? from + found[0].length - 1 : -1;
}

const maxInside = 3_000;

function inside(code: string, { open, close }: Bracket): string {
  return code.slice(open + 1, Math.min(close, open + maxInside));
}

function after(code: string, { close }: Bracket): string {
  return code.slice(close + 1, close + 60);
}

/** Whether the arguments of `.then` are two. */
function hasSecond(code: string, outline: Outline, one: Bracket): boolean {
  const end = outline.endOf(one.open + 1);
  return end < one.close && /\S/.test(code.slice(end, one.close));
}

/** `with suppress(…):`, `with raises(AssertionError):`, and `try:` with an empty handler. */
function pythonSpans(code: string, layout: Layout): readonly Span[] {
  const spans: Span[] = [];
  const form =
    /^([ \t]*)(?:with\s+(?:\w+\.)*(?:suppress|(?:pytest\.)?raises|assertRaises)\s*\(([^\n]{0,200})|try\s*:)/gm;
  for (const match of code.matchAll(form)) {
    const from = match.index + (match[1]?.length ?? 0);
    const end = layout.blockEnd(from);
    const types = match[2];
    if (types !== undefined) {
      if (/\b(?:AssertionError|BaseException|Exception)\b/.test(types))
        spans.push([code.indexOf('\n', from), end]);
    } else if (isExcepted(code, end, indentOf(code, match.index), layout)) spans.push([from, end]);
  }
  return spans;
}

function isExcepted(code: string, from: number, indent: number, layout: Layout): boolean {
  let at = from;
  for (let count = 0; count < 10; count += 1) {
    const handler = /^\n(?:[ \t]*\n)*([ \t]*)(except|finally)\b([^\n:]{0,200}):([^\n]*)/.exec(
      code.slice(at, at + 600),
    );
    if (handler?.[1]?.length !== indent) return false;
    const start = at + handler[0].length - (handler[4]?.length ?? 0);
    const end = Math.max(start, layout.blockEnd(start - 1));
    const said = code.slice(start, Math.min(end, start + maxInside));
    const types = handler[3] ?? '';
    if (handler[2] === 'finally') {
      if (/^\s*(?:return|break|continue)\b/m.test(said)) return true;
    } else if (
      (types.trim() === '' || /\b(?:AssertionError|BaseException|Exception)\b/.test(types)) &&
      !passesOn.test(said)
    )
      return true;
    at = end;
  }
  return false;
}

/** `[ … ] || true`. */
function shellSpans(code: string): readonly Span[] {
  const form =
    /^[^\n]{0,500}?\|\|[ \t]*(?:true|:|echo\b|printf\b|return(?:[ \t]+0)?[ \t]*(?:;|$)|exit[ \t]+0|\/bin\/true)/gm;
  return [...code.matchAll(form)].map(({ index, 0: found }): Span => [index, index + found.length]);
}

/** The code before a `rescue` that swallows a failure, in its block; `… rescue nil`. */
function rescuedSpans(code: string, language: Language, layout: Layout): readonly Span[] {
  const spans: Span[] = [];
  for (const { index, 0: found } of code.matchAll(
    /^[^\n#]{0,300}\S[ \t]+rescue[ \t]+(?:nil|true|false|0|""|'')/gm,
  ))
    spans.push([index, index + found.length]);
  const form = /^([ \t]*)(?:rescue|catch)\b([^\n]{0,200})$/gm;
  for (const match of code.matchAll(form)) {
    const indent = match[1]?.length ?? 0;
    const isWide =
      language === 'elixir' ||
      /\b(?:Exception|Object|\w*Assertion\w*|ExpectationNotMetError)\b/.test(match[2] ?? '');
    const said = code.slice(match.index + match[0].length, layout.blockEnd(match.index + indent));
    if (!isWide || passesOn.test(said.slice(0, maxInside))) continue;
    spans.push([blockStart(code, match.index, indent), match.index]);
  }
  return spans;
}

/** The line above that opens the block: the nearest that is indented no more. */
function blockStart(code: string, from: number, indent: number): number {
  let at = code.lastIndexOf('\n', from - 2);
  for (let count = 0; at > 0 && count < 500; count += 1) {
    const start = code.lastIndexOf('\n', at - 1) + 1;
    if (/\S/.test(code.slice(start, at)) && indentOf(code, start) <= indent) return at;
    at = start - 1;
  }
  return Math.max(0, at);
}
