/** A paste that is too long to be looked at: what was pasted, and what stands in its place. */
export interface Fold {
  readonly text: string;
  readonly label: string;
}

/**
 * Folded pastes by the sign that stands for each in the text: half of a surrogate pair, which no text from outside
 * holds, so it is one grapheme, is deleted at once, and nobody can type it.
 */
export type Folds = ReadonlyMap<string, Fold>;

export const noFolds: Folds = new Map();

/** A paste beyond either is folded. */
const above = { lines: 10, characters: 1000 };
const signs = { first: 0xdc00, last: 0xdfff };
const aSign = /[\udc00-\udfff]/gu;

/** Text with what it was pasted in. */
export interface Folded {
  readonly text: string;
  readonly folds: Folds;
}

export function isLong(text: string): boolean {
  return text.length > above.characters || linesOf(text) > above.lines;
}

/** The text as it is sent: every folded paste in its place. */
export function whole({ text, folds }: Folded): string {
  return folds.size === 0 ? text : text.replace(aSign, (sign) => folds.get(sign)?.text ?? '');
}

/** The sign of a paste and the folds with it; `undefined` where all signs are taken: then it is not folded. */
export function fold(
  folds: Folds,
  text: string,
): { readonly sign: string; readonly folds: Folds } | undefined {
  for (let unit = signs.first; unit <= signs.last; unit += 1) {
    const sign = String.fromCharCode(unit);
    if (folds.has(sign)) continue;
    const lines = linesOf(text);
    const [count, of] = lines > 1 ? [lines, 'lines'] : [text.length, 'characters'];
    const label = `[pasted ${count.toLocaleString('en-US')} ${of}]`;
    return { sign, folds: new Map([...folds, [sign, { text, label }]]) };
  }
  return undefined;
}

/** The folded paste at a place of the text; half of a pair that is whole is none. */
export function foldAt({ text, folds }: Folded, at: number): Fold | undefined {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? undefined : folds.get(text.charAt(at));
}

/** Where the last folded paste stands. */
export function lastFold({ text, folds }: Folded): number | undefined {
  if (folds.size === 0) return undefined;
  let last: number | undefined;
  for (const { index } of text.matchAll(aSign)) last = index;
  return last;
}

/** The folds that one of the texts holds. */
export function heldBy(folds: Folds, texts: Iterable<string>): Folds {
  const held = new Set<string>();
  for (const text of texts) for (const [sign] of text.matchAll(aSign)) held.add(sign);
  return new Map([...folds].filter(([sign]) => held.has(sign)));
}

/** A line end at the end begins no line. */
function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1))
    lines += 1;
  return lines;
}
