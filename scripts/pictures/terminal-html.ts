import type { Emulator, Run } from '../../test/session/tui/open-emulator.ts';

export type Ground = 'dark' | 'light';

/** The 16 colours as editors that many people use have them, the text and what is behind it. */
export const palettes: Readonly<
  Record<Ground, { readonly text: string; readonly behind: string; readonly colours: readonly string[] }>
> = {
  dark: {
    text: '#cccccc',
    behind: '#1e1e1e',
    colours: ['#000000', '#cd3131', '#0dbc79', '#e5e510', '#2472c8', '#bc3fbc', '#11a8cd', '#e5e5e5'],
  },
  light: {
    text: '#333333',
    behind: '#ffffff',
    colours: ['#000000', '#cd3131', '#107c10', '#949800', '#0451a5', '#bc05bc', '#0598bc', '#555555'],
  },
};

/** Pixels of one cell: of DejaVu Sans Mono at 14 px. */
export const cell = { width: 8.43, height: 17 } as const;

/** What a terminal shows, as HTML of the size of its screen; `all`: with what has scrolled away above it. */
export function terminalHtml(emulator: Emulator, ground: Ground, all = false): string {
  const { text, behind } = palettes[ground];
  const above = emulator.scrollback().length;
  const from = all ? 0 : above;
  const rows: string[] = [];
  for (let line = from; line < above + emulator.rows; line += 1) {
    const runs = emulator.runsOf(line).map((run) => runHtml(run, ground));
    rows.push(`<div class="row">${runs.join('')}</div>`);
  }
  const cursor = emulator.cursor();
  const caret = !emulator.isCursorSeen()
    ? ''
    : `<i style="left:${cursor.column}ch;top:${(above - from + cursor.row) * cell.height}px"></i>`;
  return `<div class="terminal" style="color:${text};background:${behind};width:${emulator.columns}ch">${rows.join('')}${caret}</div>`;
}

export const terminalStyle = `
  .terminal { position: relative; font: 14px/${cell.height}px 'DejaVu Sans Mono', monospace; padding: 6px; box-sizing: content-box }
  .row { white-space: pre; height: ${cell.height}px; overflow: hidden }
  .terminal i { position: absolute; margin: 6px; width: 1ch; height: ${cell.height}px; background: currentColor; opacity: .5 }`;

function runHtml({ text, bold, dim, italic, underline, inverse, colour }: Run, ground: Ground): string {
  const palette = palettes[ground];
  const own = colour < 0 ? palette.text : (palette.colours[colour % 8] ?? palette.text);
  const [front, back] = inverse ? [palette.behind, own] : [own, 'transparent'];
  const style = [
    `color:${front}`,
    `background:${back}`,
    ...(bold ? ['font-weight:bold'] : []),
    ...(dim ? ['opacity:.6'] : []),
    ...(italic ? ['font-style:italic'] : []),
    ...(underline ? ['text-decoration:underline'] : []),
  ];
  return `<span style="${style.join(';')}">${escaped(text)}</span>`;
}

const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => signs[sign] ?? sign);
}
