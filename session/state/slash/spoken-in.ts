import { readSpoken } from './read-spoken.ts';
import type { Spoken } from './spoken.ts';

/** What a message is; `undefined` for what is no command, which is refused where it is decided. */
export function spokenIn(text: string): Spoken | undefined {
  try {
    return readSpoken(text);
  } catch {
    return undefined;
  }
}
