/* Finds code that never runs. */
import type { Language } from '../../readers/source/language.ts';
import { type Bracket, isOutline, type Layout, type Outline, type Shape, type Span } from './blocks.ts';

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
