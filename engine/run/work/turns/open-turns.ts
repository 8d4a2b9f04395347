import { WritError } from '../../../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../../../core/contract/intentspec.gen.ts';
import type {
  AssistantMessage,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  ReplyEnd,
  ToolCall,
  ToolResult,
} from '../../../../core/contract/model.ts';
import type { Turn, TurnQuestion, Turns } from '../../../../core/contract/turns.ts';
import { wordMask } from '../../record/mask-values.ts';
import type { OpenModel } from '../../state/open-model.ts';
import type { RunSettings } from '../../state/run-request.ts';
import type { Spent } from '../../state/spent.ts';
import { msBeforeAsking } from './asking-again.ts';
import { countUsage } from './count-usage.ts';
import {
  type FindReplyFaults,
  faultIn,
  isCallOrJson,
  neitherNor,
  replyFaults,
  unparsedCalls,
} from './reply-faults.ts';
import { fenceNote, untrustedText } from './untrusted-text.ts';

/** What the turns of an attempt came to. */
export interface TurnsTaken {
  readonly turns: number;
  readonly costUnits: number;
  readonly tokensUsed: number;
  /** What the provider had to say beside its replies, each once. */
  readonly notices: readonly string[];
  /** The vendor's own ids of these questions, in order, where it tells any. */
  readonly requests: readonly string[];
}

/** The turns of one attempt, and what they cost so far. */
export interface OpenTurns extends Turns {
  taken(): TurnsTaken;
}

const maxRequests = 1000;
/** Turns that an attempt may take. */
export const maxTurns = 400;
/** Replies of another structure that are answered with what is wrong with them, before there is none. */
const maxMalformed = 3;

/** What turns need to know of what they are for: how the contract guards prompts, and when to stop. */
export interface TurnSetting {
  readonly identity: { readonly contract: { readonly effective: Pick<EffectiveIntentSpec, 'security'> } };
  readonly means: { readonly signal: AbortSignal; readonly settings: Pick<RunSettings, 'clock' | 'meter'> };
}

/** Which Task turns are for, and who is told after each reply what all of them came to. */
export interface TurnsOfTask {
  readonly spend?: (spent: Spent) => void;
  readonly task?: string;
}

/** Turns with the model of a run, for one attempt. What its meter refuses a question for is thrown. */
export function openTurns(
  { identity: { contract }, means: { signal, settings } }: TurnSetting,
  { provider, model, temperature, secrets, notices: known = [] }: OpenModel,
  { spend, task }: TurnsOfTask = {},
): OpenTurns {
  const { promptInjection, outputHandling } = contract.effective.security;
  const isStrict = outputHandling.encodingPolicy === 'strict-json';
  let faultsOf: Promise<FindReplyFaults> | undefined;
  let turns = 0;
  const { begin, counted } = countUsage({ provider, model }, { meter: settings.meter, task });
  const notices = new Set<string>(known);
  const requests: string[] = [];
  const mask = wordMask(secrets);
  const prepare = prepareMessages(promptInjection, mask, isStrict);
  const askOnce = async (request: ModelRequest, told?: (event: ModelEvent) => void): Promise<Turn> => {
    const settle = begin(sizeOf(request) + JSON.stringify(request.tools).length);
    const paid = (usage?: ModelUsage): void => {
      settle(usage);
      if (usage !== undefined) spend?.({ turns, ...counted() });
    };
    const text: string[] = [];
    const calls: ToolCall[] = [];
    let usage: ModelUsage | undefined;
    let end: { readonly end: ReplyEnd; readonly state?: unknown } | undefined;
    try {
      for await (const event of provider.ask(request, signal)) {
        told?.(event);
        if (event.type === 'text') text.push(event.text);
        if (event.type === 'reasoned') text.length = 0;
        if (event.type === 'call') calls.push(event.call);
        if (event.type === 'usage') usage = event.usage;
        if (event.type === 'notice') notices.add(event.text);
        if (event.type === 'asked') {
          const { requestId } = event;
          settings.meter?.named?.({ provider: provider.name, model, requestId });
          if (requests.length < maxRequests) requests.push(requestId);
        }
        if (event.type === 'end') end = event;
      }
    } catch (fault) {
      // A reply that broke has been paid for too.
      paid(text.length + calls.length > 0 ? usageOf(usage, request, { text: text.join(''), calls }) : usage);
      throw fault;
    }
    const said = text.join('').toWellFormed();
    const message: AssistantMessage = {
      role: 'assistant',
      text: said,
      calls,
      ...(end?.state === undefined ? {} : { state: { provider: provider.name, model, value: end.state } }),
    };
    const used = usageOf(usage, request, message);
    paid(used);
    return { message, end: end?.end ?? 'stop', usage: used };
  };
  const askTill = async (request: ModelRequest, told?: (event: ModelEvent) => void): Promise<Turn> => {
    if (turns >= maxTurns) throw new WritError('TURN_LIMIT', { detail: { maxTurns } });
    turns += 1;
    for (let tried = 1; ; tried += 1) {
      try {
        return await askOnce(request, told);
      } catch (fault) {
        signal.throwIfAborted();
        const wait = msBeforeAsking(fault, tried);
        if (wait === undefined) throw fault;
        await settings.clock.sleep(wait, signal);
        told?.({ type: 'asked', requestId: '' });
      }
    }
  };
  const contextTokens = provider.contextTokens?.(model);
  return {
    ...(contextTokens === undefined ? {} : { contextTokens }),
    async take(question, told) {
      for (const left of leftBehind(question, provider.name, model)) notices.add(left);
      const fenced = promptInjection.treatRetrievedContentAsUntrusted ? [fenceNote] : [];
      const request: ModelRequest = {
        ...question,
        system: [...question.system, ...fenced].map(mask),
        messages: question.messages.map(prepare),
        model,
        ...(temperature === undefined ? {} : { temperature }),
      };
      const { enforceOutputSchema } = promptInjection;
      if (!enforceOutputSchema && !isStrict) return askTill(request, told);
      if (enforceOutputSchema) faultsOf ??= replyFaults(question.tools);
      const find = (await faultsOf) ?? unparsedCalls;
      let messages = request.messages;
      let why = '';
      for (let malformed = 0; malformed <= maxMalformed; malformed += 1) {
        const turn = await askTill({ ...request, messages }, told);
        const results = find(turn.message);
        const isProse = isStrict && results === undefined && !isCallOrJson(turn.message);
        if (results === undefined && !isProse) return turn;
        why = results === undefined ? 'it is neither a call nor JSON' : faultIn(results);
        const answer = results === undefined ? neitherNor : ({ role: 'tool', results } as const);
        messages = [...messages, turn.message, answer];
      }
      throw new WritError('REPLY_MALFORMED', {
        message: `${maxMalformed + 1} replies of the model in a row are no calls of its tools; of the last one: ${why}`,
        detail: { provider: provider.name, replies: maxMalformed + 1 },
      });
    },
    taken: () => ({ turns, ...counted(), notices: [...notices], requests: [...requests] }),
  };
}

/** Another model, or the same of another vendor, gets a message without the reasoning that stood behind it. */
function* leftBehind({ messages }: TurnQuestion, provider: string, model: string): Iterable<string> {
  for (const message of messages) {
    const state = message.role === 'assistant' ? message.state : undefined;
    if (state === undefined || (state.provider === provider && state.model === model)) continue;
    yield `the reasoning of \`${state.model}\` of ${state.provider} stays behind: it is good for that model alone`;
  }
}

/**
 * What a reply used, as its vendor tells it; four characters a token where nothing is told, or that it was nothing: no
 * question is free, and a budget that nothing counts against would never end.
 */
function usageOf(
  told: ModelUsage | undefined,
  request: TurnQuestion,
  { text, calls }: Pick<AssistantMessage, 'text' | 'calls'>,
): ModelUsage {
  if (told !== undefined && told.input + told.output > 0) return told;
  const answered = text.length + calls.reduce((sum, call) => sum + call.arguments.length, 0);
  return { input: Math.ceil(sizeOf(request) / 4), output: Math.ceil(answered / 4) };
}

/** Characters of a question without its tools, which are no part of what is guessed. */
function sizeOf({ system, messages }: Pick<TurnQuestion, 'system' | 'messages'>): number {
  return system.join('').length + JSON.stringify(messages).length;
}

/**
 * Messages as a vendor gets them: without secrets (`mask`), and what tools answered as the contract treats it, with
 * `asJson` as a JSON object. A
 * message that comes again with the next question, as most do, is the same object and was prepared; a vendor's own
 * state stays as it came.
 */
function prepareMessages(
  promptInjection: EffectiveIntentSpec['security']['promptInjection'],
  mask: (text: string) => string,
  asJson = false,
): (message: ModelMessage) => ModelMessage {
  const answered = ({ isError }: ToolResult, text: string): string =>
    asJson ? JSON.stringify({ ok: !isError, text }) : text;
  const prepared = new WeakMap<ModelMessage, ModelMessage>();
  const prepare = (message: ModelMessage): ModelMessage => {
    if (message.role === 'user') return { ...message, text: mask(message.text) };
    if (message.role === 'tool')
      return {
        ...message,
        results: message.results.map((one) => ({
          ...one,
          text: answered(one, mask(untrustedText(promptInjection, one.text))),
        })),
      };
    return {
      ...message,
      text: mask(message.text),
      calls: message.calls.map((call) => ({ ...call, arguments: mask(call.arguments) })),
    };
  };
  return (message) => {
    const known = prepared.get(message);
    if (known !== undefined) return known;
    const made = prepare(message);
    prepared.set(message, made);
    return made;
  };
}
