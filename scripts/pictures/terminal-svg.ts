import type { Emulator, Run } from '../../test/session/tui/open-emulator.ts';
import { cell, escaped, palettes } from './terminal-html.ts';

const margin = 12;

/**
 * These rows of a terminal as an SVG picture in its dark colours, readable by a screen reader under `title`. Each word
 * group is placed at its column, so that no viewer's font moves a column.
 */
export function terminalSvg(emulator: Emulator, rows: readonly number[], title: string): string {
  const width = Math.ceil(emulator.columns * cell.width) + 2 * margin;
  const height = rows.length * cell.height + 2 * margin;
  const { text, behind } = palettes.dark;
  const lines = rows.map((row, at) => {
    const y = margin + at * cell.height;
    let column = 0;
    const parts = emulator.runsOf(row).map((run) => {
      const part = runSvg(run, column, y);
      column += run.text.length;
      return part;
    });
    return `<g>${parts.join('')}</g>`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${behind}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${text}">`,
    ...lines,
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

/** The rows of a picture that `terminalSvg` made, as text with one blank between word groups. */
export function textOfSvg(svg: string): readonly string[] {
  return [...svg.matchAll(/^<g>(.*)<\/g>$/gm)].map(([, row = '']) =>
    [...row.matchAll(/<text[^>]*>([^<]*)<\/text>/g)]
      .map(([, part = '']) => part)
      .join(' ')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
}

function runSvg({ text, bold, dim, inverse, colour }: Run, column: number, y: number): string {
  const { behind, colours, text: plain } = palettes.dark;
  const own = colour < 0 ? plain : (colours[colour % 8] ?? plain);
  const left = (at: number): string => (margin + at * cell.width).toFixed(1);
  const looks = [
    ...(inverse ? [`fill="${behind}"`] : colour < 0 ? [] : [`fill="${own}"`]),
    ...(bold ? ['font-weight="bold"'] : []),
    ...(dim ? ['opacity="0.7"'] : []),
  ].map((look) => ` ${look}`);
  const band = inverse
    ? `<rect x="${left(column)}" y="${y}" width="${(text.length * cell.width).toFixed(1)}" height="${cell.height}" fill="${own}"/>`
    : '';
  const words = [...text.matchAll(/\S+(?: \S+)*/g)].map(
    ({ 0: part, index }) =>
      `<text x="${left(column + index)}" y="${y + 13}" textLength="${(part.length * cell.width).toFixed(1)}"${looks.join('')}>${escaped(part)}</text>`,
  );
  return band + words.join('');
}
