import type { DraftEnd, DraftOrder } from '../../core/contract/draft-order.ts';
import { planningInstructions } from '../planner/instructions.ts';
import { submitDraft, submitTool } from '../planner/submit-draft.ts';
import { openCodexThread, usualLimits } from './thread.ts';

const maxSubmissions = 6;
/** Turns in which nothing is submitted. */
const maxSilent = 3;

/** What holds of every thread in which it only looks. */
export const readingOnly = `- Run every command from the root of the workspace, one program that reads at a time; it has no network. What would change a file is declined, and nothing that is changed here is kept.`;

/**
 * Has Codex draft: it looks around in its sandbox, and submits by a tool of ours, which says what is wrong. The turn is
 * over with the draft that is taken.
 */
export async function draftWithCodex(order: DraftOrder, limits = usualLimits): Promise<DraftEnd> {
  if (order.agent === undefined) return nothing('there is no program to draft with');
  const { host, signal } = order.agent;
  let end: DraftEnd | undefined;
  let submissions = 0;
  let settle: () => void = () => {};
  const enough = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const declaration = submitTool(order);
  const call = async (given: string) => {
    if (end !== undefined) return { text: 'the draft is settled', success: false };
    submissions += 1;
    const { text, state } = await submitDraft(given, order);
    if (state === 'taken') end = { kind: 'taken' };
    else if (state === 'hopeless' || submissions >= maxSubmissions)
      end = nothing(`${submissions === 1 ? 'the draft' : `draft ${submissions}`} was not taken: ${text}`);
    if (end !== undefined) settle();
    return { text, success: state === 'taken' };
  };
  const instructions = `${planningInstructions(order)}\n${readingOnly}`;
  const tool = { declaration, call };
  await using thread = await openCodexThread(host, { signal, instructions, limits, tool });
  for (let turns = 0; turns < maxSilent; turns += 1) {
    const text = turns === 0 ? order.subject : `When the draft is complete, call ${declaration.name}.`;
    const why = await thread.take({ text, mode: 'read', enough });
    if (end !== undefined) return end;
    if (why !== undefined) return nothing(why);
  }
  return nothing('Codex talks and submits nothing');
}

function nothing(reason: string): DraftEnd {
  return { kind: 'nothing', reason: reason.slice(0, 2000) };
}
