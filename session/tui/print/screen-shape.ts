import { loadHighlighting } from '../../screen/highlight/open-highlighter.ts';
import { markdownLines, openMarkdown } from '../../screen/markdown/open-markdown.ts';
import { plainShape } from './plain-shape.ts';
import type { Shape } from './shape.ts';

/** Texts as Markdown; what is a diff as one. */
export const screenShape: Shape = {
  markdown: (text, columns) => markdownLines(text, { columns }),
  diff: plainShape.diff,
  openReply: (columns) => openMarkdown(columns),
};

/** Code is coloured from then on; until then it is plain. */
export async function colourCode(): Promise<void> {
  await loadHighlighting();
}
