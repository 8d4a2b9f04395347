import { isDeepStrictEqual } from 'node:util';
import xterm, { type IBufferCell, type IBufferLine, type IUnicodeVersionProvider } from '@xterm/headless';
import { cellsOf } from '../../../session/screen/wrap.ts';

export interface Place {
  readonly row: number;
  readonly column: number;
}

/** How a cell looks. */
export interface Look {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  /** One of the terminal's own 16; -1 is that of any text. */
  readonly colour: number;
}

/** Neighbours that look alike. */
export interface Run extends Look {
  readonly text: string;
}

/** A terminal that draws nowhere, of which everything can be read. */
export interface Emulator {
  /** Resolves once it was taken. */
  write(text: string | Uint8Array): Promise<void>;
  resize(columns: number, rows: number): void;
  /** What the terminal answers to questions. */
  onAnswer(told: (text: string) => void): void;
  /** The rows of the screen, without blanks at their ends. */
  screen(): readonly string[];
  /** All lines, those above the screen first; what the terminal itself has broken is one. Without empty ones below. */
  lines(): readonly string[];
  /** Rows above the screen. */
  scrollback(): readonly string[];
  cursor(): Place;
  isCursorSeen(): boolean;
  /** How the cell looks: `bold`, `red` and the like. */
  lookAt(row: number, column: number): Look;
  /** A line from 0, those above the screen first, as runs of one look; none where there is no such line. */
  runsOf(line: number): readonly Run[];
  readonly columns: number;
  readonly rows: number;
}

export function openEmulator(columns: number, rows: number): Emulator {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  terminal.unicode.register(clusters());
  terminal.unicode.activeVersion = 'clusters';
  let isCursorSeen = true;
  for (const final of ['h', 'l'])
    terminal.parser.registerCsiHandler({ prefix: '?', final }, ([mode]) => {
      if (mode === 25) isCursorSeen = final === 'h';
      return false;
    });
  const rowsBetween = (from: number, to: number): string[] => {
    const found: string[] = [];
    for (let at = from; at < to; at += 1) {
      found.push(terminal.buffer.active.getLine(at)?.translateToString(true) ?? '');
    }
    return found;
  };
  return {
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (to, high) => terminal.resize(to, high),
    onAnswer: (told) => {
      terminal.onData(told);
    },
    screen: () => {
      const { baseY } = terminal.buffer.active;
      return rowsBetween(baseY, baseY + terminal.rows);
    },
    scrollback: () => rowsBetween(0, terminal.buffer.active.baseY),
    lines: () => {
      const found: string[] = [];
      const { active } = terminal.buffer;
      for (let at = 0; at < active.length; at += 1) {
        const line = active.getLine(at);
        const next = active.getLine(at + 1);
        const text =
          line === undefined ? '' : next?.isWrapped === true ? unbroken(line) : line.translateToString(true);
        if (line?.isWrapped === true) found.push((found.pop() ?? '') + text);
        else found.push(text);
      }
      const whole = found.map((line) => line.trimEnd());
      while (whole.at(-1) === '') whole.pop();
      return whole;
    },
    cursor: () => ({ row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX }),
    isCursorSeen: () => isCursorSeen,
    lookAt: (row, column) => {
      const { active } = terminal.buffer;
      return lookOf(active.getLine(active.baseY + row)?.getCell(column));
    },
    runsOf: (at) => {
      const line = terminal.buffer.active.getLine(at);
      const runs: Run[] = [];
      for (let column = 0; column < (line?.length ?? 0); column += 1) {
        const cell = line?.getCell(column);
        // The second half of a wide character is none of its own.
        if (cell?.getWidth() === 0) continue;
        const one = { text: cell?.getChars() || ' ', ...lookOf(cell) };
        const last = runs.at(-1);
        if (last !== undefined && isDeepStrictEqual({ ...last, text: '' }, { ...one, text: '' }))
          runs[runs.length - 1] = { ...last, text: last.text + one.text };
        else runs.push(one);
      }
      return runs;
    },
    get columns() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
  };
}

function lookOf(cell: IBufferCell | undefined): Look {
  const is = (flag: number | undefined): boolean => (flag ?? 0) !== 0;
  return {
    bold: is(cell?.isBold()),
    dim: is(cell?.isDim()),
    italic: is(cell?.isItalic()),
    underline: is(cell?.isUnderline()),
    inverse: is(cell?.isInverse()),
    colour: cell?.getFgColor() ?? -1,
  };
}

/** A row that goes on in the next one; the column that a wide character did not fit into is none of it. */
function unbroken(line: IBufferLine): string {
  let end = line.length;
  while (end > 0 && line.getCell(end - 1)?.getChars() === '' && line.getCell(end - 1)?.getWidth() === 1)
    end -= 1;
  return line.translateToString(false, 0, end);
}

/** Characters that a person sees as one are one, as in terminals of these days; each number stands for one so far. */
function clusters(): IUnicodeVersionProvider & {
  charProperties(code: number, before: number): number;
} {
  const segmenter = new Intl.Segmenter();
  const known: string[] = [''];
  const numbers = new Map<string, number>();
  const properties = (cluster: string, joined: boolean): number => {
    const number = numbers.get(cluster) ?? known.push(cluster) - 1;
    numbers.set(cluster, number);
    return (number << 3) | (Math.min(cellsOf(cluster), 3) << 1) | (joined ? 1 : 0);
  };
  return {
    version: 'clusters',
    wcwidth: (code) =>
      cellsOf(String.fromCodePoint(code)) > 1 ? 2 : cellsOf(String.fromCodePoint(code)) === 1 ? 1 : 0,
    charProperties: (code, before) => {
      const char = String.fromCodePoint(code);
      const joined = (known[before >> 3] ?? '') + char;
      const isOne = before !== 0 && [...segmenter.segment(joined)].length === 1;
      return isOne ? properties(joined, true) : properties(char, false);
    },
  };
}
