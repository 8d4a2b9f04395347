import { EnvelopeFault, type EnvelopeHunk } from './read-envelope.ts';

/**
 * A file's text with its hunks applied in order, each found below the one before it: exactly, else but for blanks at the
 * ends of lines. EnvelopeFault for a hunk that stands nowhere, or in several places.
 */
export function applyHunks(text: string, hunks: readonly EnvelopeHunk[]): string {
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const made: string[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const at = find(lines, hunk, from, index + 1);
    made.push(...lines.slice(from, at), ...hunk.to);
    from = at + hunk.from.length;
  }
  made.push(...lines.slice(from));
  return made.join(ending);
}

function find(lines: readonly string[], hunk: EnvelopeHunk, from: number, number: number): number {
  let start = from;
  if (hunk.after !== undefined) {
    const wanted = hunk.after.trim();
    const at = lines.findIndex((line, index) => index >= from && line.trim() === wanted);
    if (at === -1) throw new EnvelopeFault(`hunk ${number}: the line after \`@@\` is not in the file`);
    start = at + 1;
  }
  // A hunk that only adds stands where its anchor says, else at the end.
  if (hunk.from.length === 0) return hunk.after === undefined ? endOf(lines) : start;
  for (const same of [
    (a: string, b: string) => a === b,
    (a: string, b: string) => a.trimEnd() === b.trimEnd(),
  ]) {
    const places = placesOf(lines, hunk, start, same);
    const [first] = places;
    if (first === undefined) continue;
    if (places.length > 1 && hunk.after === undefined && !hunk.atEnd)
      throw new EnvelopeFault(
        `hunk ${number}: its lines stand in several places; give more context, or a line above them after \`@@\``,
      );
    return hunk.atEnd ? (places.at(-1) ?? first) : first;
  }
  throw new EnvelopeFault(`hunk ${number}: its lines are not in the file as they are given; read it again`);
}

/** At most two, or all that reach the end. */
function placesOf(
  lines: readonly string[],
  { from: wanted, atEnd }: EnvelopeHunk,
  start: number,
  same: (one: string, other: string) => boolean,
): readonly number[] {
  const places: number[] = [];
  for (let at = start; at + wanted.length <= lines.length; at += 1) {
    if (!wanted.every((line, index) => same(lines[at + index] ?? '', line))) continue;
    if (atEnd && at + wanted.length < endOf(lines)) continue;
    places.push(at);
    if (places.length === 2 && !atEnd) break;
  }
  return places;
}

/** Behind the last line; a line end at the end of a file begins no line. */
function endOf(lines: readonly string[]): number {
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}
