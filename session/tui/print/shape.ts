import type { Line } from '../../screen/line.ts';

/** How texts become lines of this terminal. */
export interface Shape {
  markdown(text: string, columns: number): readonly Line[];
  diff(text: string, columns: number): readonly Line[];
  /** A reply that comes in pieces. */
  openReply(columns: () => number): ReplyShape;
}

/** What of a reply is certain is handed out once; the rest may change with the next piece. */
export interface ReplyShape {
  push(text: string): readonly Line[];
  live(): readonly Line[];
  end(): readonly Line[];
}
