import { mostPart, type Part } from './part.ts';
import { closeParts, nothingOpen, type Open, takeLine } from './split-parts.ts';

/** A text that comes in pieces, cut into parts. How it was cut into pieces makes no difference. */
export interface Parts {
  /** Parts that are finished by this piece, each of them once. */
  push(text: string): readonly Part[];
  /** What stands open, as if the text ended here. */
  live(): readonly Part[];
}

export function openParts(): Parts {
  let open: Open = nothingOpen;
  let begun = '';
  return {
    push(text) {
      const finished: Part[] = [];
      const take = (line: string): void => {
        const step = takeLine(open, line);
        open = step.open;
        finished.push(...step.done);
      };
      const lines = text.split('\n');
      for (const [at, piece] of lines.entries()) {
        begun += piece;
        while (begun.length > mostPart) {
          const cut = cutOf(begun);
          take(begun.slice(0, cut));
          begun = begun.slice(cut);
        }
        if (at === lines.length - 1) break;
        take(begun.endsWith('\r') ? begun.slice(0, -1) : begun);
        begun = '';
      }
      return finished;
    },
    live() {
      if (begun === '') return closeParts(open);
      const step = takeLine(open, begun.endsWith('\r') ? begun.slice(0, -1) : begun);
      return [...step.done, ...closeParts(step.open)];
    },
  };
}

/** Where a line that is too long is cut: behind its last space, in no character. */
function cutOf(line: string): number {
  const space = line.lastIndexOf(' ', mostPart - 1);
  if (space > mostPart - 256) return space + 1;
  return /[\ud800-\udbff]/.test(line[mostPart - 1] ?? '') ? mostPart - 1 : mostPart;
}
