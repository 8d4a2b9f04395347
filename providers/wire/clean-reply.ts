import type { ModelEvent, ModelRequest } from '../../core/contract/model.ts';
import { splitThoughts } from './split-thoughts.ts';
import { cleanToolName, isToolName } from './tool-name.ts';
import { writtenCall } from './written-call.ts';

/** Characters of a reply that are searched for a call written as text. */
const maxSearched = 1024 * 1024;

/**
 * Mends what servers leave in a reply of any dialect: `<think>` tags in the text, decorated names of tools, and calls
 * written as text, which are reported. Takes the events of one reply in order.
 */
export function replyCleaner({ tools }: Pick<ModelRequest, 'tools'>): {
  take(event: ModelEvent): Iterable<ModelEvent>;
} {
  const declared = new Set(tools.map(({ name }) => name));
  const thoughts = splitThoughts();
  const texts: string[] = [];
  let searched = 0;
  let calls = 0;
  let changesNames = false;
  const keep = function* (events: Iterable<ModelEvent>): Iterable<ModelEvent> {
    for (const event of events) {
      if (event.type === 'reasoned') texts.length = 0;
      if (event.type === 'text' && searched < maxSearched) {
        texts.push(event.text);
        searched += event.text.length;
      }
      yield event;
    }
  };
  return {
    *take(event) {
      if (event.type === 'text') {
        yield* keep(thoughts.take(event.text));
      } else if (event.type === 'calling') {
        const name = cleanToolName(event.name, declared);
        // A name that comes in pieces is announced when it is complete.
        if (declared.size === 0 ? name !== '' : declared.has(name)) yield { type: 'calling', name };
      } else if (event.type === 'call') {
        yield* keep(thoughts.flush());
        calls += 1;
        const name = cleanToolName(event.call.name, declared);
        changesNames ||= name !== event.call.name || !isToolName(name);
        yield { type: 'call', call: { ...event.call, name } };
      } else if (event.type === 'end') {
        yield* keep(thoughts.flush());
        const written = calls === 0 ? writtenCall(texts.join(''), declared) : undefined;
        if (written !== undefined)
          yield {
            type: 'notice',
            text: `the model wrote a call of \`${written}\` as text, and the server did not parse it: nothing was called. Start the server with a parser for the model's tool calls, or choose another model`,
          };
        // Parts that go back as they came would bring the vendor's refusal of the name.
        const { state, ...end } = event;
        const isLost = changesNames && typeof state === 'object';
        yield state === undefined || isLost ? end : event;
      } else {
        yield event;
      }
    },
  };
}
