import { type Line, span } from '../../../session/screen/line.ts';
import { openPainter } from '../../../session/tui/term/open-painter.ts';
import type { Painter } from '../../../session/tui/term/painter.ts';
import { type ThemeName, themes } from '../../../session/tui/term/row.ts';
import { type Emulator, openEmulator } from './open-emulator.ts';

export interface PainterScene {
  readonly painter: Painter;
  readonly emulator: Emulator;
  /** Every frame that was written, in order. */
  readonly frames: readonly string[];
  /** Resolves once the emulator took all that was written. */
  settled(): Promise<void>;
  /** The terminal, then the painter. */
  resize(columns: number, rows: number): Promise<void>;
}

/** A painter on an emulator, without a terminal between them. */
export function openPainterScene(
  columns: number,
  rows: number,
  theme: ThemeName = 'bare',
  reflows = true,
): PainterScene {
  const emulator = openEmulator(columns, rows);
  const frames: string[] = [];
  const painter = openPainter({
    write: (text) => {
      frames.push(text);
      void emulator.write(text);
    },
    size: { columns, rows },
    theme: themes[theme],
    reflows,
  });
  const settled = async (): Promise<void> => {
    await Promise.resolve();
    await emulator.write('');
  };
  return {
    painter,
    emulator,
    frames,
    settled,
    resize: async (to, high) => {
      await settled();
      emulator.resize(to, high);
      painter.resized({ columns: to, rows: high });
      await settled();
    },
  };
}

export function lineOf(text: string): Line {
  return [span(text)];
}
