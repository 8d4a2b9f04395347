import { WritError } from '../../core/base/errors.ts';
import type { GivenAnswer } from '../state/interaction.ts';

/** The JSON object of a request. */
export type Body = Readonly<Record<string, unknown>>;

const maxClientId = 200;
const maxCommandId = 200;
const maxGrantId = 200;

/** `{clientId, kind?}`; the kind is judged where leases are. INVALID_BODY. */
export function readAttach(body: Body): { readonly clientId: string; readonly kind: string } {
  const { clientId, kind = 'browser' } = only(body, ['clientId', 'kind']);
  return { clientId: word('clientId', clientId, maxClientId), kind: text('kind', kind) };
}

/** `{clientId}`. INVALID_BODY. */
export function readDetach(body: Body): { readonly clientId: string } {
  return { clientId: word('clientId', only(body, ['clientId']).clientId, maxClientId) };
}

/** `{text, commandId?}`. INVALID_BODY. */
export function readMessage(body: Body): { readonly text: string; readonly commandId?: string } {
  const { text: said, commandId } = only(body, ['text', 'commandId']);
  const message = text('text', said);
  if (message.trim() === '') throw invalid('`text` to say something', '');
  return {
    text: message,
    ...(commandId === undefined ? {} : { commandId: word('commandId', commandId, maxCommandId) }),
  };
}

/** `{id}` of what was pre-approved. INVALID_BODY. */
export function readRevoke(body: Body): { readonly id: string } {
  return { id: word('id', only(body, ['id']).id, maxGrantId) };
}

/** `{agent, prompt}`. INVALID_BODY. */
export function readDispatch(body: Body): { readonly agent: string; readonly prompt: string } {
  const { agent, prompt } = only(body, ['agent', 'prompt']);
  return { agent: word('agent', agent, maxClientId), prompt: text('prompt', prompt) };
}

/** `{objective, criteria?}`; bounds as of `--goal` (document 2, Limits). INVALID_BODY. */
export function readGoal(body: Body): { readonly objective: string; readonly criteria: readonly string[] } {
  const { objective, criteria = [] } = only(body, ['objective', 'criteria']);
  const said = text('objective', objective).trim();
  if (said === '' || Buffer.byteLength(said) > maxObjectiveBytes)
    throw invalid(`\`objective\` to have 1 to ${maxObjectiveBytes} octets`, said.length);
  if (!Array.isArray(criteria)) throw invalid('`criteria` to be a list of strings', criteria);
  return { objective: said, criteria: criteria.map((one) => text('criteria', one)) };
}

const maxObjectiveBytes = 16 * 1024;

/** `{reason?}`. INVALID_BODY. */
export function readReason(body: Body): { readonly reason?: string } {
  const { reason } = only(body, ['reason']);
  return reason === undefined ? {} : { reason: text('reason', reason) };
}

const futures = ['no', 'accept_all', 'decline_all'] as const;

/** An answer to an interaction, its form alone. INVALID_BODY. */
export function readAnswer(body: Body): GivenAnswer {
  const { selectedOption, approved, applyToFuture, note, answers } = only(body, [
    'selectedOption',
    'approved',
    'applyToFuture',
    'note',
    'answers',
  ]);
  const future = futures.find((one) => one === applyToFuture);
  if (applyToFuture !== undefined && future === undefined)
    throw invalid(`\`applyToFuture\` to be one of ${futures.join(', ')}`, applyToFuture);
  if (approved !== undefined && typeof approved !== 'boolean')
    throw invalid('`approved` to be true or false', approved);
  return {
    ...(selectedOption === undefined ? {} : { selectedOption: text('selectedOption', selectedOption) }),
    ...(approved === undefined ? {} : { approved }),
    ...(future === undefined ? {} : { applyToFuture: future }),
    ...(note === undefined ? {} : { note: text('note', note) }),
    ...(answers === undefined ? {} : { answers: readAnswers(answers) }),
  };
}

function readAnswers(value: unknown): Readonly<Record<string, readonly string[]>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('`answers` to be an object', value);
  for (const [id, given] of Object.entries(value)) {
    const isList = Array.isArray(given) && given.every((one) => typeof one === 'string');
    // The answer may be a secret: it is in no message.
    if (!isList)
      throw invalid(`\`answers\` to hold a list of strings for each question, not so for one of them`, id);
  }
  return value as Readonly<Record<string, readonly string[]>>;
}

/** Nothing but these members. */
export function only<Name extends string>(
  body: Body,
  names: readonly Name[],
): { readonly [Key in Name]?: unknown } {
  const stranger = Object.keys(body).find((name) => !(names as readonly string[]).includes(name));
  if (stranger === undefined) return body as { readonly [Key in Name]?: unknown };
  throw invalid(names.length === 0 ? 'no member' : `no member but ${names.join(', ')}`, stranger);
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value;
  throw invalid(`\`${name}\` to be a string`, typeof value);
}

function word(name: string, value: unknown, most: number): string {
  const said = text(name, value);
  if (said.length > 0 && said.length <= most) return said;
  throw invalid(`\`${name}\` to have 1 to ${most} characters`, said.length);
}

const maxFound = 100;

function invalid(expected: string, found: unknown): WritError {
  const shown = JSON.stringify(found)?.slice(0, maxFound) ?? 'nothing';
  return new WritError('INVALID_BODY', { message: `expected ${expected}, found ${shown}` });
}
