import type { Line } from '../../screen/line.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { nothingTold, tellPlain } from '../plain/tell-plain.ts';
import { typedLine } from '../plain/typed-line.ts';
import type { Painter } from '../term/painter.ts';
import { type DrawContext, drawView } from './draw-view.ts';
import type { View } from './view.ts';

/** Puts a view on a terminal: what is finished, and what changes. */
type Drawer = (
  view: View,
  snapshot: Snapshot,
  context: DrawContext & { readonly lines: readonly Line[] },
) => void;

/** A region of a few lines below what is finished; with `plain`, lines that say what changed, and what is typed. */
export function openDrawer(painter: Painter, isPlain: boolean): Drawer {
  let before = nothingTold;
  if (!isPlain)
    return (view, snapshot, { lines, ...context }) => {
      painter.commit(lines);
      const drawn = drawView(view, snapshot, context);
      painter.live(drawn.lines, drawn.cursor.row < 0 ? undefined : drawn.cursor);
    };
  return (view, snapshot, { lines, columns }) => {
    const { told, lines: changes } = tellPlain(before, view, snapshot, columns);
    before = told;
    painter.commit([...lines, ...changes]);
    const { line, column } = typedLine(view, columns);
    painter.live([line], { row: 0, column });
  };
}
