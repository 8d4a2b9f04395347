import type { Spoken } from './spoken.ts';

/** One form of a message that begins with a slash. */
export interface SlashCommand {
  /** Its first word, without the slash; commands of several forms share it. */
  readonly name: string;
  /** How it is written: what is replaced in capitals, what may be left out in brackets. */
  readonly form: string;
  /** What it does, for lists of commands. */
  readonly says: string;
  /**
   * What stands behind the name, trimmed, as a session understands it; `undefined` where it is of another form.
   * UNSUPPORTED_OPERATION where the form is right and the value is not.
   */
  readonly read: (rest: string) => Spoken | undefined;
}
