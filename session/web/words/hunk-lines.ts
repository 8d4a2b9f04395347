import { type Highlighter, highlightLine, openHighlighter } from '../../screen/highlight/open-highlighter.ts';
import type { HunkLine } from '../../screen/hunks.ts';
import { type Line, span } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';

/** Endings whose language has another name. */
const languageOf: Readonly<Record<string, string>> = {
  mts: 'ts',
  cts: 'ts',
  htm: 'html',
  yml: 'yaml',
  rs: 'rust',
  py: 'python',
};

/** The lines of a hunk in the tones of their language, by the ending of the path: each side reads on by itself. */
export function tonedLines(path: string, lines: readonly HunkLine[]): readonly Line[] {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const language = languageOf[ending] ?? ending;
  let [old, now]: Highlighter[] = [openHighlighter(language), openHighlighter(language)];
  return lines.map(({ kind, text }) => {
    if (old === undefined || now === undefined || kind === 'note') return [span(visible(text), 'dim')];
    const { line, next } = highlightLine(kind === 'removed' ? old : now, text);
    if (kind === 'removed') old = next;
    else now = next;
    if (kind === 'same') old = highlightLine(old, text).next;
    return line;
  });
}
