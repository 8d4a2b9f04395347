/**
 * The text between two joined string literals: a quote, an operator of some language or none, a quote. A line may end
 * between them.
 */
const joint =
  /\\{0,2}["'`][ \t]{0,40}(?:\+\+?|\.\.?|&|<>|\\)?\s{0,60}(?:(?:\+\+?|\.\.?|&|<>)[ \t]{0,8})?(?:[bfru]{1,2}(?=["']))?\\{0,2}["'`]/g;
const piece = /[\w.+/=~%-]{1,400}/y;
const maxPieces = 4096;

const quotes = ['"', "'", '`'];
/** Text of one row of joined literals, with the offset of each of its characters. */
export interface JoinedRow {
  readonly text: string;
  /** Offset in the whole text of a character of `text`. */
  at(index: number): number;
  /** Where pieces meet in `text`. */
  readonly joints: readonly number[];
}

/** Every row of pieces of a token that text joins. Linear: a piece is read once. */
export function* joinedRows(text: string): Generator<JoinedRow> {
  let pieces: { readonly from: number; readonly to: number }[] = [];
  joint.lastIndex = 0;
  for (let found = joint.exec(text); found; found = joint.exec(text)) {
    const before = pieces.at(-1);
    const from = joint.lastIndex;
    piece.lastIndex = from;
    const to = piece.test(text) ? piece.lastIndex : from;
    if (before === undefined || before.to !== found.index || pieces.length >= maxPieces) {
      if (pieces.length > 1) yield toRow(text, pieces);
      pieces = [{ from: pieceStart(text, found.index), to: found.index }];
    }
    if (to > from) pieces.push({ from, to });
    // The quote that ends one piece may begin the next joint.
    joint.lastIndex = to;
  }
  if (pieces.length > 1) yield toRow(text, pieces);
}

/**
 * Whether pieces of a token meet at an anchor: both sides have characters of a token, and together they are long
 * enough for one.
 */
export function isCutAt(text: string, at: number): boolean {
  for (let from = Math.max(0, at - 2); from <= at + 2; from += 1) {
    if (!quotes.includes(text.charAt(from))) continue;
    const start = Math.max(0, from - 48);
    // In a diff, the lines are separated by the marks of added lines.
    const around = text.slice(start, from + 500).replace(/\n\+/g, '\n');
    for (const row of joinedRows(around)) if (row.text.length >= 20) return true;
  }
  return false;
}

function pieceStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < 400 && isTokenCode(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function isTokenCode(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    (code < 127 && '_.+/=~%-'.includes(String.fromCharCode(code)))
  );
}

function toRow(text: string, pieces: readonly { readonly from: number; readonly to: number }[]): JoinedRow {
  const joints: number[] = [];
  let joined = '';
  for (const { from, to } of pieces) {
    if (joined !== '') joints.push(joined.length);
    joined += text.slice(from, to);
  }
  return {
    text: joined,
    joints,
    at(index) {
      let left = index;
      for (const { from, to } of pieces) {
        if (left <= to - from) return from + left;
        left -= to - from;
      }
      return pieces.at(-1)?.to ?? 0;
    },
  };
}
