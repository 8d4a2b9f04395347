import { lexer, type Token } from 'marked';

/** Octets of one text that are read as Markdown; what is behind them is told as it is. */
const mostCharacters = 256 * 1024;

/** The blocks of a text, as `marked` reads them. Its HTML stays text. */
export function readMarkdown(text: string): readonly Token[] {
  return lexer(text.slice(0, mostCharacters), { gfm: true });
}
