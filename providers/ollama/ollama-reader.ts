import type { ReplyEnd, ToolCall } from '../../core/contract/model.ts';
import { callIds } from '../wire/call-ids.ts';
import { countIn, type Json, listIn, objectIn, partsOf, textIn } from '../wire/json-parts.ts';
import { brokenReply, endOf, maxCalls, SaidFailureError, type WireReader } from '../wire/wire-format.ts';
import { ollamaFailure } from './ollama-failure.ts';

/** `done_reason`; older servers give none. */
const ends: Readonly<Record<string, ReplyEnd>> = { stop: 'stop', tool_calls: 'calls', length: 'length' };

/** One reply: a line for each piece, the last one with `done`. A call comes whole, its arguments as an object. */
export function ollamaReader(): WireReader {
  const calls: ToolCall[] = [];
  const toId = callIds();
  const thoughts: string[] = [];
  let ended: Json | undefined;
  const takeCall = (value: unknown): void => {
    const { id, function: named } = partsOf(value);
    const { name, arguments: given } = partsOf(named);
    if (calls.length === maxCalls) throw brokenReply(`more than ${maxCalls} calls in one message`);
    calls.push({
      id: toId(textIn(id)),
      name: textIn(name),
      arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
    });
  };
  return {
    *take(frame) {
      const line = objectIn(frame);
      if (line === undefined) throw brokenReply('a line that is no object');
      // Here an error may be without a word.
      if (Object.hasOwn(line, 'error')) throw new SaidFailureError(ollamaFailure(undefined, line));
      const { content, thinking, tool_calls: called } = partsOf(line.message);
      const thought = textIn(thinking);
      if (thought !== '') {
        thoughts.push(thought);
        yield { type: 'reasoning', text: thought };
      }
      const text = textIn(content);
      if (text !== '') yield { type: 'text', text };
      listIn(called).forEach(takeCall);
      if (line.done === true) ended ??= line;
    },
    progress: () => (ended === undefined ? 'begun' : 'whole'),
    *finish() {
      if (ended === undefined) throw brokenReply('the stream ended in the middle of the reply');
      const reason = textIn(ended.done_reason) || 'stop';
      if (reason === 'load' || reason === 'unload')
        throw brokenReply(`the model was to \`${reason}\`, and said nothing`);
      const told = endOf(ends, reason);
      // A count that is nought is left out.
      const input = countIn(ended.prompt_eval_count);
      const output = countIn(ended.eval_count);
      if (input !== undefined || output !== undefined)
        yield { type: 'usage', usage: { input: input ?? 0, output: output ?? 0 } };
      for (const call of calls) yield { type: 'call', call };
      const end = told === 'stop' && calls.length > 0 ? 'calls' : told;
      const state = thoughts.join('');
      yield { type: 'end', end, ...(state === '' ? {} : { state }) };
    },
  };
}
