import { type Line, span, type Tone } from '../line.ts';
import { visible } from '../visible.ts';

/** Lines below a title of their own; nothing where there are none. */
export function section(title: string, lines: readonly string[], tone: Tone): readonly Line[] {
  if (lines.length === 0) return [];
  return [[span(`  ${title}:`, tone)], ...lines.map((line): Line => [span(`    ${visible(line)}`)])];
}
