import type { ModelEvent, ReplyEnd } from '../../core/contract/model.ts';
import { callIds } from '../wire/call-ids.ts';
import { countIn, type Json, listIn, objectIn, partsOf, textIn } from '../wire/json-parts.ts';
import { usageEvent } from '../wire/usage-event.ts';
import { brokenReply, endOf, type WireReader } from '../wire/wire-format.ts';
import { type KeptPart, keptParts } from './kept-parts.ts';

/** Why a candidate ended (ai.google.dev/api/generate-content, FinishReason); what is not here is no reply. */
const ends: Readonly<Record<string, ReplyEnd>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
};

/** A reply: frames that are each a whole GenerateContentResponse; no frame says that it is the last. */
export function geminiReader(): WireReader {
  const kept = keptParts();
  const toId = callIds();
  let finish = '';
  let why = '';
  let calls = 0;
  const takePart = function* (part: Json): Iterable<ModelEvent> {
    const call = objectIn(part.functionCall);
    const text = textIn(part.text);
    if (call) {
      calls += 1;
      const args = objectIn(call.args) ?? {};
      const given = textIn(call.id);
      const id = toId(given);
      kept.add(callPart(part, given === '' ? {} : { id }, textIn(call.name), args));
      yield { type: 'call', call: { id, name: textIn(call.name), arguments: JSON.stringify(args) } };
      return;
    }
    // What is no text and no call was not asked for; a signature may stand alone.
    kept.add({ ...(part.thought === true ? { thought: true } : {}), text, ...signatureOf(part) });
    if (text !== '') yield { type: part.thought === true ? 'reasoning' : 'text', text };
  };
  const takeFrame = function* (frame: Json): Iterable<ModelEvent> {
    const told = toUsage(frame.usageMetadata);
    if (told) yield told;
    const blocked = textIn(partsOf(frame.promptFeedback).blockReason);
    const [candidate] = listIn(frame.candidates);
    const { content, finishReason, finishMessage } = partsOf(candidate);
    for (const part of listIn(partsOf(content).parts)) yield* takePart(partsOf(part));
    // A prompt that was blocked has no candidate.
    finish ||= textIn(finishReason) || (blocked === '' ? '' : 'SAFETY');
    why ||= blocked || textIn(finishMessage);
  };
  return {
    *take(frame) {
      // A server that knows no `alt=sse` sends one list of all frames.
      for (const one of Array.isArray(frame) ? frame : [frame]) yield* takeFrame(partsOf(one));
    },
    // No frame says that it is the last, and older models end each with `STOP`.
    progress: () => (finish === '' ? 'begun' : 'ending'),
    *finish() {
      if (finish === '') throw brokenReply('the stream ended in the middle of the reply');
      const end = endOf(ends, finish, why);
      if (end === 'filtered')
        yield { type: 'notice', text: `the vendor held the reply back: ${why || finish}` };
      const state = kept.parts();
      yield {
        type: 'end',
        end: end === 'stop' && calls > 0 ? 'calls' : end,
        ...(state.length === 0 ? {} : { state }),
      };
    },
  };
}

function callPart(part: Json, id: { id?: string }, name: string, args: Json): KeptPart {
  return { functionCall: { ...id, name, args }, ...signatureOf(part) };
}

/** A signature that is no base64 would have the next question refused. */
function signatureOf({ thoughtSignature: given }: Json): { readonly thoughtSignature?: string } {
  return typeof given === 'string' && /^[A-Za-z0-9+/_-]+={0,2}$/.test(given)
    ? { thoughtSignature: given }
    : {};
}

/** Thoughts are no candidate's tokens here, and count as output. */
function toUsage(value: unknown): ModelEvent | undefined {
  const usage = objectIn(value);
  const prompt = countIn(usage?.promptTokenCount);
  if (usage === undefined || prompt === undefined) return undefined;
  const thought = countIn(usage.thoughtsTokenCount);
  const cached = countIn(usage.cachedContentTokenCount);
  const input = countIn(prompt + (countIn(usage.toolUsePromptTokenCount) ?? 0));
  const output = countIn((countIn(usage.candidatesTokenCount) ?? 0) + (thought ?? 0));
  if (input === undefined || output === undefined) return undefined;
  return usageEvent(input, output, cached, thought);
}
