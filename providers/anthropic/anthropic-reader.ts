import type { ModelEvent, ReplyEnd } from '../../core/contract/model.ts';
import { callIds } from '../wire/call-ids.ts';
import { type Json, listIn, partsOf, textIn } from '../wire/json-parts.ts';
import { brokenReply, endOf, SaidFailureError, type WireReader } from '../wire/wire-format.ts';
import { anthropicFailure } from './anthropic-failure.ts';
import { usageReader } from './anthropic-usage.ts';
import { type Block, openBlock } from './content-block.ts';

/**
 * `stop_reason` (platform.claude.com/docs/en/api/handling-stop-reasons); what is not here is no reply. A turn that was
 * paused goes on where its message goes back: it is cut.
 */
const ends: Readonly<Record<string, ReplyEnd>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length',
  refusal: 'refused',
  sensitive: 'filtered',
};

/** Blocks of one message. */
const maxBlocks = 4096;

/** A reply: events by the `type` in their data, or one whole message. */
export function anthropicReader(): WireReader {
  const blocks: Block[] = [];
  /** By index; nothing for a block of a kind that nobody asked for. */
  const open = new Map<unknown, Block | undefined>();
  const usage = usageReader();
  let started = 0;
  let reason = '';
  let why = '';
  let isWhole = false;
  const start = (index: unknown, given: Json): readonly ModelEvent[] => {
    const block = openBlock(given);
    started += 1;
    if (started > maxBlocks) throw brokenReply(`more than ${maxBlocks} blocks in one message`);
    open.set(index, block);
    if (block === undefined) return [];
    blocks.push(block);
    return block.add(given);
  };
  const stopped = ({ stop_reason: given, stop_details: details }: Json): void => {
    reason ||= textIn(given);
    why ||= textIn(partsOf(details).explanation);
  };
  return {
    *take(frame) {
      const { type, message, index, content_block, delta, usage: told, content } = partsOf(frame);
      if (type === 'error') throw new SaidFailureError(anthropicFailure(undefined, frame));
      if (type === 'message_start') {
        stopped(partsOf(message));
        yield* usage(partsOf(message).usage);
      } else if (type === 'content_block_start') {
        const begun = partsOf(content_block);
        yield* start(index, begun);
        const called = begun.type === 'tool_use' ? textIn(begun.name) : '';
        if (called !== '') yield { type: 'calling', name: called };
      } else if (type === 'content_block_delta') {
        if (!open.has(index)) throw brokenReply('a piece of a block that never began');
        yield* open.get(index)?.add(partsOf(delta)) ?? [];
      } else if (type === 'content_block_stop') {
        open.delete(index);
      } else if (type === 'message_delta') {
        stopped(partsOf(delta));
        yield* usage(told);
      } else if (type === 'message_stop') {
        isWhole = true;
      } else if (type === 'message') {
        for (const [place, block] of listIn(content).entries()) yield* start(place, partsOf(block));
        stopped(partsOf(frame));
        yield* usage(told);
        isWhole = true;
      }
    },
    progress: () => (isWhole ? 'whole' : 'begun'),
    *finish() {
      if (!isWhole || reason === '') throw brokenReply('the stream ended in the middle of the reply');
      const end = endOf(ends, reason);
      if (why !== '') yield { type: 'notice', text: why };
      // What it was about to do when it, or the vendor, said no is not done.
      if (end === 'refused' || end === 'filtered') {
        yield { type: 'end', end };
        return;
      }
      const toId = callIds();
      const state: Json[] = [];
      let calls = 0;
      for (const block of blocks) {
        const call = block.call?.(toId, end === 'length' && block === blocks.at(-1));
        if (call) yield { type: 'call', call };
        calls += call ? 1 : 0;
        const kept = block.kept(call);
        if (kept) state.push(kept);
      }
      if (end === 'calls' && calls === 0) throw brokenReply('it says that it calls, and calls nothing');
      yield {
        type: 'end',
        end: end === 'stop' && calls > 0 ? 'calls' : end,
        ...(state.length === 0 ? {} : { state }),
      };
    },
  };
}
