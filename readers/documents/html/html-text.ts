/* The visible text of an HTML page. */
import { htmlParts } from './html-parts.ts';

/** After these a new line begins. */
const blocks = new Set(
  (
    'address article aside blockquote br dd div dl dt footer form header h1 h2 h3 h4 h5 h6 hr li main nav ol p pre ' +
    'section table tr ul'
  ).split(' '),
);

/** Returns the visible text of a page by blocks, without markup, at most `maxLength` characters. */
export function htmlText(html: string, maxLength: number): string {
  const lines: string[] = [];
  let line = '';
  let length = 0;
  const end = (): void => {
    const text = line.replace(/[ \t\r\n\f]+/g, ' ').trim();
    line = '';
    if (text === '') return;
    length += text.length + 1;
    lines.push(text);
  };
  for (const part of htmlParts(html)) {
    if (length + line.length > maxLength) break;
    if (part.kind === 'text') line += part.text;
    else if (blocks.has(part.name)) end();
    else line += ' ';
  }
  end();
  return lines.join('\n').slice(0, maxLength).toWellFormed();
}

/** The same as one line. */
export function htmlLine(html: string, maxLength: number): string {
  return htmlText(html, maxLength).replaceAll('\n', ' ');
}
