/* The loop of one attempt: model turns and tool calls until the model ends it or makes no progress. */
import { sha256Hex } from '../core/base/canonical.ts';
import { isWritError } from '../core/base/errors.ts';
import type { ToolCall, ToolResult } from '../core/interfaces/model.ts';
import type { TaskOrder, Turn, WorkCitation, WorkResult } from '../core/interfaces/worker.ts';
import { emptyReply, isEmpty } from './conversation.ts';
import { openDialogue } from './dialogue.ts';
import { standingInstructions, taskInstructions } from './instructions.ts';
import { toolsFor, useMcp } from './tools/coder-tools.ts';
import { declarationOf, readArguments, type ToolOutcome } from './tools/tool.ts';

/** Consecutive replies without a call after which the model is prompted to continue. */
const maxSilent = 3;
/** How often a model with too few citations is reminded before its attempt ends as it is. */
const maxAskedToCite = 2;
const goOn = 'Go on with the tools. When nothing is left to do, call submit_task_complete.';

/** The engine counts what its turns cost. */
const usage = { costUnits: 0 };

/** One attempt at a Task: turns and calls until the model ends it, or it gets nowhere. */
export async function workOn(order: TaskOrder): Promise<WorkResult> {
  const { turns } = order;
  if (turns === undefined) return nothing('there is no model');
  const told = taskInstructions(order);
  // The same for the same Task in every run: what was recorded of one is played back to another.
  const cacheKey = sha256Hex(standingInstructions + told);
  const tools = toolsFor(order);
  const dialogue = openDialogue({
    turns,
    question: told,
    system: [standingInstructions],
    tools: [...tools.map(declarationOf), ...(order.mcp?.tools ?? [])],
    cacheKey,
  });
  const repetition = watchRepetition();
  const citations: WorkCitation[] = [];
  let asked = 0;
  for (let silent = 0; ; ) {
    let turn: Turn;
    try {
      turn = await dialogue.take();
    } catch (fault) {
      if (isWritError(fault, 'TURN_LIMIT') || isWritError(fault, 'REPLY_MALFORMED'))
        return nothing(fault.message);
      throw fault;
    }
    const { message, end } = turn;
    dialogue.add(message);
    if (end === 'refused' || end === 'filtered') return nothing(`the model would not: ${end}`);
    if (message.calls.length === 0) {
      silent += 1;
      if (silent > maxSilent)
        return nothing(isEmpty(message) ? emptyReply : 'the model talks and calls no tool');
      dialogue.add({
        role: 'user',
        text: end === 'length' ? 'Your reply was cut. Be brief, and go on.' : goOn,
      });
      continue;
    }
    silent = 0;
    const results: ToolResult[] = [];
    for (const call of message.calls) {
      let outcome = await answer(call, order);
      if (outcome.ends?.complete && asked < maxAskedToCite) {
        const lacking = (await order.citations?.lacking(citations)) ?? [];
        asked += 1;
        if (lacking.length > 0) outcome = { text: `not ended:\n${lacking.join('\n')}`, isError: true };
      }
      results.push({ callId: call.id, name: call.name, text: outcome.text, isError: outcome.isError });
      if (outcome.cites) citations.push(outcome.cites);
      if (outcome.ends)
        return {
          ...(outcome.ends.complete ? { kind: 'workspace', usage } : nothing(outcome.ends.summary)),
          citations,
        };
      const state = repetition.see(JSON.stringify([call.name, call.arguments, outcome.text]));
      if (state === 'end') return nothing('the model repeats itself');
      if (state === 'tell')
        results.splice(-1, 1, {
          ...(results.at(-1) as ToolResult),
          text: `${outcome.text}\n[you did this before]`,
        });
    }
    dialogue.add({ role: 'tool', results });
  }

  function answer(
    call: ToolCall,
    more: Pick<TaskOrder, 'hands' | 'web' | 'mcp' | 'citations' | 'person'>,
  ): Promise<ToolOutcome> | ToolOutcome {
    const tool = tools.find(({ name }) => name === call.name);
    if (tool === undefined) return useMcp(call, more.mcp, tools);
    const read = readArguments(tool, call.arguments);
    if ('wrong' in read) return { text: read.wrong, isError: true };
    return tool.use(read.given, more.hands, more);
  }
}

function nothing(reason: string): WorkResult {
  return { kind: 'nothing', reason: reason.slice(0, 2000), usage };
}

/**
 * Consecutive repetitions of a call with the same answer: after `tellAt` the model is warned, after `endAt` the
 * attempt ends.
 */
const tellAt = 3;
const endAt = 6;

/** Watches for a model that goes round in circles. */
interface Repetition {
  /** Records a call with its result. Returns the next action. */
  see(what: string): 'go-on' | 'tell' | 'end';
}

/** Over the last calls: circles of up to four calls are seen too. */
export function watchRepetition(): Repetition {
  const seen: string[] = [];
  return {
    see(what) {
      seen.push(what);
      if (seen.length > 64) seen.shift();
      const most = Math.max(...[1, 2, 3, 4].map((length) => rounds(seen, length)));
      if (most >= endAt) return 'end';
      return most === tellAt ? 'tell' : 'go-on';
    },
  };
}

/** Returns how many times the last `length` entries are repeated consecutively at the end. */
function rounds(seen: readonly string[], length: number): number {
  let count = 1;
  for (let at = seen.length - 1; at - length >= 0 && seen[at] === seen[at - length]; at -= 1)
    count += 1 / length;
  return seen.length < length ? 0 : Math.floor(count + 1e-9);
}
