import type { CommandContext } from '../command-parts/command.ts';

/** What is said beside results while a screen stands: it would write over what is drawn. */
export interface Aside {
  /** From here on it is told there; answers how to stop that. */
  listen(told: (text: string) => void): () => void;
}

/** A context whose notes and complaints go to the screen as long as there is one, and to stderr else. */
export function withAside(context: CommandContext): {
  readonly context: CommandContext;
  readonly aside: Aside;
} {
  let told: ((text: string) => void) | undefined;
  const { print } = context;
  const through =
    (say: CommandContext['print']['note']): CommandContext['print']['note'] =>
    (...parts) => {
      if (told === undefined) say(...parts);
      else told(parts.map((part) => (typeof part === 'string' ? part : part.text)).join(''));
    };
  return {
    context: {
      ...context,
      print: { ...print, note: through(print.note), complain: through(print.complain) },
    },
    aside: {
      listen(to) {
        told = to;
        return () => {
          told = undefined;
        };
      },
    },
  };
}
