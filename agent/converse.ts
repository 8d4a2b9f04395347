/* Talks of a model with a person, and drafts of a document: it reads the repository, and changes no file. */
import { isWritError } from '../core/base/errors.ts';
import type { ToolResult } from '../core/interfaces/model.ts';
import type { DraftEnd, DraftOrder, Turn } from '../core/interfaces/worker.ts';
import { emptyReply, isEmpty } from './conversation.ts';
import { isTooLarge, openDialogue } from './dialogue.ts';
import {
  type ConverseEnd,
  type ConverseOrder,
  planningInstructions,
  refusedDraft,
  submitDraft,
  submitTool,
} from './submit-draft.ts';
import { readingDeclarations, useReading } from './tools/coder-tools.ts';
import { watchRepetition } from './work.ts';

/** Of the conversation; drafting reads little. */
const maxCharacters = { talk: 400_000, draft: 300_000 } as const;
const maxTurns = 100;
/** A model without a draft after this many turns will not produce one. */
const maxDraftTurns = 60;
const maxSubmissions = 6;
const maxSilent = 3;
/** Maximum characters of a model's text that are quoted if it submits no draft. */
const maxSaid = 600;

/** Drafts a document. Errors of the turns are thrown. */
export async function draftWith(order: DraftOrder): Promise<DraftEnd> {
  const { subject, ...given } = order;
  const draft = { ...order, answers: 'never' } as const;
  const end = await converse({ ...given, system: [planningInstructions(draft)], question: subject, draft });
  return end.kind === 'answered' ? nothing('the model answered in words') : end;
}

/** Turns and calls until the model answers, or its draft is accepted. Errors of the turns are thrown. */
export async function converse(order: ConverseOrder): Promise<ConverseEnd> {
  const { turns, told, before = [], question, images, agent, draft } = order;
  if (agent !== undefined)
    return (await import('./codex/converse.ts')).converseWithCodex({ ...order, agent });
  const submit = draft && submitTool(draft);
  const isStrict = draft?.answers === 'never';
  const dialogue = openDialogue({
    turns,
    question,
    images,
    // Vendors want a question first; a dialogue that was cut elsewhere has lost it.
    before: before[0]?.role === 'user' ? before : [],
    maxCharacters: isStrict ? maxCharacters.draft : maxCharacters.talk,
    system: order.system,
    tools: [...readingDeclarations(order), ...(submit === undefined ? [] : [submit])],
    cacheKey: order.cacheKey,
    ...(isStrict ? {} : { thread: order.cacheKey }),
  });
  const say: typeof dialogue.add = async (message) => {
    await told?.message(message);
    dialogue.add(message);
  };
  let asked: Promise<void> | undefined;
  // Not before the model has accepted it: a question that is too long would be repeated with each later one.
  const tellQuestion = (): Promise<void> => {
    asked ??= told?.message({ role: 'user', text: question }) ?? Promise.resolve();
    return asked;
  };
  const repetition = watchRepetition();
  let silent = 0;
  let said = '';
  let submissions = 0;
  const most = draft === undefined ? maxTurns : maxDraftTurns;
  for (let taken = 0; taken < most; taken += 1) {
    let turn: Turn;
    try {
      turn = await dialogue.take((event) => {
        // A fault of it is thrown below, where it is awaited.
        tellQuestion().catch(() => undefined);
        told?.event(event);
      });
    } catch (fault) {
      if (!isTooLarge(fault)) await tellQuestion();
      if (isWritError(fault, 'TURN_LIMIT') || isWritError(fault, 'REPLY_MALFORMED'))
        return nothing(fault.message);
      throw fault;
    }
    await tellQuestion();
    const { message, end } = turn;
    if (end === 'refused' || end === 'filtered') return nothing(`the model would not: ${end}`);
    const isBlank = isEmpty(message);
    if (!isBlank || isStrict) await say(message);
    if (message.calls.length === 0) {
      const isAnswer = !isBlank && end !== 'length' && end !== 'paused';
      if (isAnswer && (draft === undefined || draft.answers === 'at once')) return { kind: 'answered' };
      if (submit === undefined) return nothing(isBlank ? emptyReply : cutReply);
      silent += 1;
      // Only the first text counts; later texts are answers to reminders.
      if (said === '') said = oneLine(message.text);
      if (silent > maxSilent) {
        if (said === '' && isBlank) return nothing(emptyReply);
        if (end === 'length') return nothing(cutReply);
        return isStrict
          ? nothing(`the model talks and submits nothing${quoted(said)}`)
          : { kind: 'answered' };
      }
      const cut = end === 'length' ? 'Your reply was cut. Be brief. ' : '';
      await say({ role: 'user', text: `${cut}When the draft is complete, call ${submit.name}.` });
      continue;
    }
    silent = 0;
    const results: ToolResult[] = [];
    let settled: DraftEnd | undefined;
    for (const call of message.calls) {
      const answer = { callId: call.id, name: call.name };
      if (settled !== undefined) {
        results.push({ ...answer, text: 'not done: the draft is settled', isError: true });
      } else if (draft === undefined || call.name !== submit?.name) {
        const { text, isError } = await useReading(call, order);
        results.push({ ...answer, text, isError });
        if (repetition.see(JSON.stringify([call.name, call.arguments, text])) === 'end')
          return nothing('the model repeats itself');
      } else {
        submissions += 1;
        const { text, state } = await submitDraft(call.arguments, draft);
        results.push({ ...answer, text, isError: state !== 'taken' });
        if (state === 'taken') settled = { kind: 'taken' };
        else if (state === 'hopeless' || submissions === maxSubmissions)
          settled = nothing(refusedDraft(submissions, text));
      }
    }
    await say({ role: 'tool', results });
    if (settled !== undefined) return settled;
  }
  return nothing(
    draft === undefined
      ? `the model looked around for ${most} turns and did not answer`
      : `no draft was submitted in ${most} turns`,
  );
}

const cutReply = 'the reply was cut: it was longer than the model may answer at once';

function quoted(said: string): string {
  if (said === '') return '';
  return `; it says: “${said.length <= maxSaid ? said : `${said.slice(0, maxSaid).toWellFormed()}…`}”`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function nothing(reason: string): DraftEnd {
  return { kind: 'nothing', reason: reason.slice(0, 2000) };
}
