import { useEffect, useRef, useState } from 'preact/hooks';

/** How long a first Escape is remembered. */
const armedForMs = 3000;

interface Stopping {
  readonly isBusy: boolean;
  readonly mayStop: boolean;
  readonly stop: () => void;
  /** Asked about a first Escape: whether it has done something else with it. */
  readonly goElsewhere: () => boolean;
}

/** Escape twice in a row stops the turn: whether one more does. Any other key, a press or a while end that. */
export function useStop({ isBusy, mayStop, stop, goElsewhere }: Stopping): boolean {
  const [isShown, show] = useState(false);
  // Two keys may come between two drawings.
  const isArmed = useRef(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arm = (next: boolean): void => {
      clearTimeout(timer);
      if (next) timer = setTimeout(disarm, armedForMs);
      isArmed.current = next;
      show(next);
    };
    const disarm = (): void => arm(false);
    if (!isBusy || !mayStop) {
      disarm();
      return;
    }
    const hear = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') disarm();
      else if (!event.defaultPrevented && !event.repeat) {
        event.preventDefault();
        if (isArmed.current) stop();
        arm(!isArmed.current && !goElsewhere());
      }
    };
    addEventListener('keydown', hear);
    addEventListener('pointerdown', disarm);
    return () => {
      clearTimeout(timer);
      removeEventListener('keydown', hear);
      removeEventListener('pointerdown', disarm);
    };
  }, [isBusy, mayStop, stop, goElsewhere]);
  return isShown;
}
