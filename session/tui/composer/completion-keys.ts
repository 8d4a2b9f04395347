import { change } from './buffer.ts';
import { type Choice, type Completion, chooseBy, completionFor } from './completion.ts';
import { asks, type Composer, type Context, type Outcome, only } from './composer.ts';
import { send } from './send.ts';

/** The list that belongs to what is written; it opens where `mayOpen`: while typing, not where a cursor comes by. */
export function withCompletion(composer: Composer, { commands }: Context, mayOpen: boolean): Outcome {
  const { buffer, completion, asked, closed } = composer;
  const open = completionFor(buffer.text, buffer.cursor, commands, completion, asked + 1);
  if (open === undefined) return only({ ...composer, completion: undefined, closed: undefined });
  if (open.from === closed || (completion === undefined && !mayOpen))
    return only({ ...composer, completion: undefined });
  const next = { ...composer, completion: open, closed: undefined };
  if (open.kind !== 'path' || open.id <= asked) return only(next);
  return asks({ ...next, asked: open.id }, { type: 'complete-path', prefix: open.sought, id: open.id });
}

/** A key while a list is open; `undefined` where it is none of the list's. */
export function completionKey(
  composer: Composer,
  open: Completion,
  chord: string,
  context: Context,
): Outcome | undefined {
  const choice = open.choices[open.chosen];
  if (choice === undefined) return undefined;
  switch (chord) {
    case 'up':
    case 'ctrl+p':
      return only({ ...composer, completion: chooseBy(open, -1) });
    case 'down':
    case 'ctrl+n':
      return only({ ...composer, completion: chooseBy(open, 1) });
    case 'escape':
      return only({ ...composer, completion: undefined, closed: open.from });
    case 'tab':
      return accepted(composer, open, choice, context);
    case 'enter': {
      if (isWritten(open, choice)) return undefined;
      const outcome = accepted(composer, open, choice, context);
      const { text, cursor } = outcome.composer.buffer;
      const isComplete = open.kind === 'command' && choice.isWhole && cursor === text.length;
      return isComplete ? send(outcome.composer, context) : outcome;
    }
    default:
      return undefined;
  }
}

/** What is chosen in the place of the token; a directory or a command that goes on keeps the list open. */
function accepted(composer: Composer, open: Completion, choice: Choice, context: Context): Outcome {
  const { buffer } = composer;
  const isSpaced = choice.insert.endsWith(' ') && buffer.text.charAt(buffer.cursor) === ' ';
  const inserted = isSpaced ? choice.insert.slice(0, -1) : choice.insert;
  const next = { ...composer, buffer: change(buffer, open.from, buffer.cursor, inserted, 'edited') };
  return choice.isWhole ? only({ ...next, completion: undefined }) : withCompletion(next, context, true);
}

function isWritten(open: Completion, choice: Choice): boolean {
  return open.kind === 'path' ? open.sought === choice.name : `/${open.sought}` === choice.insert.trimEnd();
}
