import type { ModelEvent } from '../../core/contract/model.ts';

const opening = ['<think>', '<thinking>'];
/** Blanks before a tag; more are a text of their own. */
const maxBlanks = 64;

/**
 * Splits `<think>…</think>` at the beginning of a text from it, however the text is cut. Later tags are part of the
 * text: an answer may be about them.
 */
export function splitThoughts(): { take(text: string): Iterable<ModelEvent>; flush(): Iterable<ModelEvent> } {
  let held = '';
  let closing: string | undefined;
  let isText = false;
  /** Whether reasoning came before: the blanks behind it belong to its tag. */
  let isAfter = false;

  function* takeStart(): Iterable<ModelEvent> {
    const begun = held.trimStart();
    const blanks = held.length - begun.length;
    const tag = opening.find((one) => begun.startsWith(one));
    if (tag !== undefined) {
      closing = `</${tag.slice(1)}`;
      held = begun.slice(tag.length);
      yield* takeThought();
    } else if (blanks > maxBlanks || !opening.some((one) => one.startsWith(begun))) {
      isText = true;
      yield* said('text', isAfter ? begun : held);
      held = '';
    }
  }

  function* takeThought(): Iterable<ModelEvent> {
    const end = held.indexOf(closing as string);
    if (end === -1) {
      const kept = partAtEnd(held, closing as string);
      yield* said('reasoning', held.slice(0, held.length - kept));
      held = held.slice(held.length - kept);
      return;
    }
    yield* said('reasoning', held.slice(0, end));
    held = held.slice(end + (closing as string).length);
    closing = undefined;
    isAfter = true;
    yield* takeStart();
  }

  return {
    *take(text) {
      if (isText) {
        yield* said('text', text);
        return;
      }
      held += text;
      yield* closing === undefined ? takeStart() : takeThought();
    },
    *flush() {
      yield* said(
        closing === undefined ? 'text' : 'reasoning',
        isAfter && !closing ? held.trimStart() : held,
      );
      held = '';
    },
  };
}

/** How many characters at the end of `text` may begin `tag`. */
function partAtEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}

function* said(type: 'text' | 'reasoning', text: string): Iterable<ModelEvent> {
  if (text !== '') yield { type, text };
}
