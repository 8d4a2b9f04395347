import { structuredPatch } from 'diff/lib/patch/create.js';

/** Lines that stay around what is changed. */
const around = 3;
/** Lines that differ, which bounds the work to its square: beyond, all of both texts is one change. */
const mostDiffering = 1_000;

/** What differs between two texts, as the hunks of a unified diff; nothing where nothing does. Pure. */
export function unifiedLines(before: string, after: string): readonly string[] {
  const options = { context: around, maxEditLength: mostDiffering };
  const patch = structuredPatch('', '', before, after, '', '', options);
  if (patch === undefined) return oneChange(linesOf(before), linesOf(after));
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
}

function oneChange(old: readonly string[], now: readonly string[]): readonly string[] {
  const signed = (sign: string, lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) =>
      line.endsWith('\n')
        ? [`${sign}${line.slice(0, -1)}`]
        : [`${sign}${line}`, '\\ No newline at end of file'],
    );
  return [
    `@@ -${range(1, old.length)} +${range(1, now.length)} @@`,
    ...signed('-', old),
    ...signed('+', now),
  ];
}

/** A side without lines is behind the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** With the end of each, by which the last one may differ alone. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
