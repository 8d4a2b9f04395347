import { patchLines } from '../../screen/diff/diff-lines.ts';
import { markdownLines, openMarkdown } from '../../screen/markdown/open-markdown.ts';
import type { Shape } from './shape.ts';

/** Texts as Markdown; what is a diff as one. */
export const screenShape: Shape = {
  markdown: (text, columns) => markdownLines(text, { columns }),
  diff: (text, columns) => patchLines(text, { columns }),
  openReply: (columns) => openMarkdown(columns),
};
