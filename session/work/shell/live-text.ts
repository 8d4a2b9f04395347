import type { Clock } from '../../../core/base/clock.ts';
import { BoundedCapture } from '../../../engine/tool/bounded-capture.ts';

/** Bytes of what a command prints that are kept, half of them the first and half the last. */
export const maxPrintedBytes = 32 * 1024;
/** Characters from its end that are shown while it runs. */
const maxLive = 4096;
const everyMs = 150;

interface LiveParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly mask: (text: string) => string;
  readonly tell: (text: string) => void;
}

/** What a command prints, as it comes: whole lines of its end, told a few times a second. */
export interface LiveText {
  readonly heard: (chunk: Uint8Array) => void;
  /** It is over, and printed this. */
  end(text: string): void;
}

export function openLiveText({ clock, signal, mask, tell }: LiveParts): LiveText {
  const capture = new BoundedCapture(maxPrintedBytes);
  let isWaiting = false;
  let isOver = false;
  const show = (): void => {
    isWaiting = false;
    if (isOver) return;
    const text = capture.finish().bytes.toString('utf8');
    // Half a secret is known by nobody: a line that has not ended is not shown, and it is masked before it is cut.
    const whole = mask(text.slice(0, text.lastIndexOf('\n') + 1));
    const end = whole.slice(-maxLive);
    if (end !== '') tell(end.length < whole.length ? end.slice(end.indexOf('\n') + 1) : end);
  };
  return {
    heard(chunk) {
      capture.push(chunk);
      if (isWaiting || isOver) return;
      isWaiting = true;
      clock.sleep(everyMs, signal).then(show, () => undefined);
    },
    end(text) {
      isOver = true;
      tell(mask(text));
    },
  };
}
