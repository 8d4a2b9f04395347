import type { ModelEvent } from '../../core/contract/model.ts';

const opening = ['<think>', '<thinking>'];
/** Blanks before a tag; more are a text of their own. */
const maxBlanks = 64;
const closings = ['</think>', '</thinking>'];
/** A closing tag that ends its line, or may still do so. */
const closingLine = /^<\/think(?:ing)?>[ \t]{0,64}(\r?\n|\r?$)/;
/** Text that shows that a later closing tag is part of an answer. */
const aboutTags = /<think|```/;

/**
 * Splits `<think>…</think>` at the beginning of a text from it, however the text is cut. If a closing tag without an
 * opening one has a line for itself, the text before it was reasoning: some templates put the opening tag into the
 * prompt. Other tags are part of the text: an answer may be about them.
 */
export function splitThoughts(): { take(text: string): Iterable<ModelEvent>; flush(): Iterable<ModelEvent> } {
  let held = '';
  let closing: string | undefined;
  let isText = false;
  /** Whether reasoning came before: the blanks behind it belong to its tag. */
  let isAfter = false;
  /** The last characters of the text so far, while a closing tag may still come. */
  let before: string | undefined = '\n';

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
      if (isAfter) {
        before = undefined;
        held = begun;
      }
      yield* takeText();
    }
  }

  function* sayText(length: number): Iterable<ModelEvent> {
    const text = held.slice(0, length);
    held = held.slice(length);
    if (before !== undefined) before += text;
    if (before !== undefined) before = aboutTags.test(before) ? undefined : before.slice(-6);
    yield* said('text', text);
  }

  function* takeText(): Iterable<ModelEvent> {
    while (before !== undefined) {
      const at = held.search(/<\/think(?:ing)?>/);
      if (at === -1) {
        const kept = Math.max(...closings.map((tag) => partAtEnd(held, tag)));
        yield* sayText(held.length - kept);
        return;
      }
      yield* sayText(at);
      const [line, end] = (before?.endsWith('\n') && closingLine.exec(held)) || [];
      if (line === undefined) {
        yield* sayText(2);
      } else {
        if (!end?.endsWith('\n')) return;
        yield { type: 'reasoned' };
        held = held.slice(line.length);
        isText = false;
        isAfter = true;
        yield* takeStart();
        return;
      }
    }
    yield* sayText(held.length);
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
      held += text;
      if (isText) yield* takeText();
      else yield* closing === undefined ? takeStart() : takeThought();
    },
    *flush() {
      if (isText && before?.endsWith('\n') && closingLine.test(held)) {
        yield { type: 'reasoned' };
        held = '';
        return;
      }
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
