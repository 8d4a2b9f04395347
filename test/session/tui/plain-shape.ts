import { type Line, span } from '../../../session/screen/line.ts';
import { visibleLines } from '../../../session/screen/visible.ts';
import type { Shape } from '../../../session/tui/print/shape.ts';

/** Texts as they are. */
export const plainShape: Shape = {
  markdown: toLines,
  diff: toLines,
  openReply(_columns) {
    let rest = '';
    return {
      push(text) {
        const lines = visibleLines(rest + text);
        rest = lines.at(-1) ?? '';
        return lines.slice(0, -1).map((line): Line => [span(line)]);
      },
      live: () => (rest === '' ? [] : [[span(rest)]]),
      end: () => (rest === '' ? [] : [[span(rest)]]),
    };
  },
};

function toLines(text: string): readonly Line[] {
  return visibleLines(text).map((line): Line => [span(line)]);
}
