import type { SyntaxNode, SyntaxTree } from '../../readers/source/grammar/syntax-tree.ts';

/** What hides code where it spans lines; the first line of a piece of file may already stand in one. */
const spanning =
  /comment|^(?:string|template_string|encapsed_string|string_literal|raw_string|raw_string_literal|verbatim_string_literal|interpreted_string_literal|interpolated_string_expression|regex|concatenated_string|subshell)$/;
/** What hides whole lines. */
const covering = /^(?:ERROR|text|heredoc|heredoc_body|heredoc_content|nowdoc|nowdoc_body|uninterpreted)$/;

/**
 * The lines of a text that a tree may have read wrongly: around its faults, and, in pieces of a file, inside what spans
 * lines.
 */
export function* doubtfulLines(
  tree: SyntaxTree | undefined,
  text: string,
  isWhole: boolean,
): Generator<{ readonly start: number; readonly end: number }> {
  if (!tree) return yield* linesBetween(text, 0, text.length);
  const nodes: readonly SyntaxNode[] = isWhole
    ? tree.faults
    : tree.nodes.filter(
        ({ type, start, end }) =>
          covering.test(type) || (spanning.test(type) && text.slice(start, end).includes('\n')),
      );
  let done = 0;
  for (const { start, end } of [...nodes, ...(isWhole ? [] : tree.faults)].sort(
    (a, b) => a.start - b.start,
  )) {
    // A node of a line that is done needs no search for the start of that line.
    const from = start < done ? done : Math.max(done, text.lastIndexOf('\n', Math.max(0, start - 1)) + 1);
    const next = text.indexOf('\n', Math.max(end, from));
    const to = next === -1 ? text.length : next;
    if (from >= to) continue;
    yield* linesBetween(text, from, to);
    done = to + 1;
  }
}

function* linesBetween(
  text: string,
  from: number,
  to: number,
): Generator<{ readonly start: number; readonly end: number }> {
  let start = from;
  while (start < to) {
    const next = text.indexOf('\n', start);
    const end = next === -1 || next > to ? to : next;
    yield { start, end };
    start = end + 1;
  }
}
