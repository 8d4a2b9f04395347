/* Answers one question of a person with a model that may only read. */
import { isWritError } from '../core/base/errors.ts';
import type { ModelMessage, ToolResult } from '../core/interfaces/model.ts';
import type { Turn } from '../core/interfaces/worker.ts';
import { emptyReply, isEmpty } from './conversation.ts';
import type { ConverseEnd, ConverseOrder } from './dialogue.ts';
import { isTooLarge, openDialogue } from './dialogue.ts';
import { readingDeclarations, useReading } from './tools/coder-tools.ts';
import { watchRepetition } from './work.ts';

/** Of the conversation that a model is sent. */
const maxCharacters = 400_000;
const maxTurns = 100;

/** Turns and calls until the model answers without one. Errors of the turns are thrown. */
export async function converse(order: ConverseOrder): Promise<ConverseEnd> {
  const { turns, told, before, question, agent } = order;
  if (agent !== undefined)
    return (await import('./codex/converse.ts')).converseWithCodex({ ...order, agent });
  const dialogue = openDialogue({
    turns,
    question,
    // Vendors want a question first; a dialogue that was cut elsewhere has lost it.
    before: before[0]?.role === 'user' ? before : [],
    maxCharacters,
    system: order.system,
    tools: readingDeclarations(order),
    cacheKey: order.cacheKey,
    thread: order.cacheKey,
  });
  const say = async (message: ModelMessage): Promise<void> => {
    await told.message(message);
    dialogue.add(message);
  };
  let asked: Promise<void> | undefined;
  // Not before the model has accepted it: a question that is too long would be repeated with each later one.
  const tellQuestion = (): Promise<void> => {
    asked ??= told.message({ role: 'user', text: question });
    return asked;
  };
  const repetition = watchRepetition();
  for (let taken = 0; taken < maxTurns; taken += 1) {
    let turn: Turn;
    try {
      turn = await dialogue.take((event) => {
        // A fault of it is thrown below, where it is awaited.
        tellQuestion().catch(() => undefined);
        told.event?.(event);
        if (event.type === 'text') told.text(event.text);
      });
    } catch (fault) {
      if (!isTooLarge(fault)) await tellQuestion();
      if (isWritError(fault, 'TURN_LIMIT') || isWritError(fault, 'REPLY_MALFORMED'))
        return { kind: 'nothing', reason: fault.message };
      throw fault;
    }
    await tellQuestion();
    const { message, end } = turn;
    if (end === 'refused' || end === 'filtered')
      return { kind: 'nothing', reason: `the model would not: ${end}` };
    if (!isEmpty(message)) await say(message);
    if (message.calls.length === 0) {
      if (end === 'length')
        return {
          kind: 'nothing',
          reason: 'the reply was cut: it was longer than the model may answer at once',
        };
      return isEmpty(message) ? { kind: 'nothing', reason: emptyReply } : { kind: 'answered' };
    }
    const results: ToolResult[] = [];
    for (const call of message.calls) {
      const { text, isError } = await useReading(call, order);
      results.push({ callId: call.id, name: call.name, text, isError });
      if (repetition.see(JSON.stringify([call.name, call.arguments, text])) === 'end')
        return { kind: 'nothing', reason: 'the model repeats itself' };
    }
    await say({ role: 'tool', results });
  }
  return { kind: 'nothing', reason: `the model looked around for ${maxTurns} turns and did not answer` };
}
