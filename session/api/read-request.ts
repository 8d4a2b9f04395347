/** Parsers of request bodies and query parameters. */
import { compact } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Body, invalidBody, onlyMembers } from '../../http/read-json-body.ts';
import { criterionBounds, maxObjectiveBytes } from '../state/goal.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { HunkReview } from '../state/work.ts';

const maxClientId = 200;
const maxCommandId = 200;
const maxGrantId = 200;
const maxNamed = 200;

/** `{clientId, kind?}`. INVALID_BODY. */
export function readAttach(body: Body): { readonly clientId: string; readonly kind: string } {
  const { clientId, kind = 'browser' } = onlyMembers(body, ['clientId', 'kind']);
  return { clientId: word('clientId', clientId, maxClientId), kind: text('kind', kind) };
}

/** `{clientId}`. INVALID_BODY. */
export function readDetach(body: Body): { readonly clientId: string } {
  return { clientId: word('clientId', onlyMembers(body, ['clientId']).clientId, maxClientId) };
}

/** `{text, commandId?}`. INVALID_BODY. */
export function readMessage(body: Body): { readonly text: string; readonly commandId?: string } {
  const { text: said, commandId } = onlyMembers(body, ['text', 'commandId']);
  return {
    text: speech('text', said),
    ...(commandId === undefined ? {} : { commandId: word('commandId', commandId, maxCommandId) }),
  };
}

/** `{id}` of what was pre-approved. INVALID_BODY. */
export function readRevoke(body: Body): { readonly id: string } {
  return { id: word('id', onlyMembers(body, ['id']).id, maxGrantId) };
}

/** `{patchset, path, hunk, verdict?, comment?}`. INVALID_BODY. */
export function readReview(body: Body): HunkReview {
  const { patchset, path, hunk, verdict, comment } = onlyMembers(body, [
    'patchset',
    'path',
    'hunk',
    'verdict',
    'comment',
  ]);
  if (verdict !== undefined && verdict !== 'keep' && verdict !== 'reject')
    throw invalidBody('`verdict` to be keep or reject', verdict);
  return {
    patchset: word('patchset', patchset, maxNamed),
    path: text('path', path),
    hunk: word('hunk', hunk, maxNamed),
    ...(verdict === undefined ? {} : { verdict }),
    ...(comment === undefined ? {} : { comment: speech('comment', comment) }),
  };
}

/** `{agent, prompt}`. INVALID_BODY. */
export function readDispatch(body: Body): { readonly agent: string; readonly prompt: string } {
  const { agent, prompt } = onlyMembers(body, ['agent', 'prompt']);
  return { agent: word('agent', agent, maxClientId), prompt: speech('prompt', prompt) };
}

/** `{objective, criteria?}`. INVALID_BODY. */
export function readGoal(body: Body): { readonly objective: string; readonly criteria: readonly string[] } {
  const { objective, criteria = [] } = onlyMembers(body, ['objective', 'criteria']);
  const said = text('objective', objective).trim();
  if (said === '' || Buffer.byteLength(said) > maxObjectiveBytes)
    throw invalidBody(`\`objective\` to have 1 to ${maxObjectiveBytes} octets`, said);
  if (!Array.isArray(criteria) || criteria.length > criterionBounds.count)
    throw invalidBody(`\`criteria\` to be a list of at most ${criterionBounds.count} strings`, criteria);
  return { objective: said, criteria: criteria.map((one) => readCriterion(one)) };
}

/** One line that people and a model read. */
function readCriterion(value: unknown): string {
  const { least, most } = criterionBounds;
  const said = text('criteria', value).trim();
  if (said.length >= least && said.length <= most && !unseemly.test(said)) return said;
  throw invalidBody(`a criterion to have ${least} to ${most} characters, and no control characters`, said);
}

const maxReason = 2000;

/** `{reason?}`. INVALID_BODY. */
export function readReason(body: Body): { readonly reason?: string } {
  const { reason } = onlyMembers(body, ['reason']);
  if (reason === undefined) return {};
  const said = text('reason', reason);
  if (said.length > maxReason)
    throw invalidBody(`\`reason\` to have at most ${maxReason} characters`, said.length);
  return { reason: said };
}

const futures = ['no', 'accept_all', 'decline_all'] as const;

/** An answer to an interaction, its form alone. INVALID_BODY. */
export function readAnswer(body: Body): GivenAnswer {
  const { selectedOption, approved, applyToFuture, note, answers } = onlyMembers(body, [
    'selectedOption',
    'approved',
    'applyToFuture',
    'note',
    'answers',
  ]);
  const future = futures.find((one) => one === applyToFuture);
  if (applyToFuture !== undefined && future === undefined)
    throw invalidBody(`\`applyToFuture\` to be one of ${futures.join(', ')}`, applyToFuture);
  if (approved !== undefined && typeof approved !== 'boolean')
    throw invalidBody('`approved` to be true or false', approved);
  return {
    ...(selectedOption === undefined ? {} : { selectedOption: text('selectedOption', selectedOption) }),
    ...compact({ approved, applyToFuture: future }),
    ...(note === undefined ? {} : { note: text('note', note) }),
    ...(answers === undefined ? {} : { answers: readAnswers(answers) }),
  };
}

function readAnswers(value: unknown): Readonly<Record<string, readonly string[]>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidBody('`answers` to be an object', value);
  for (const given of Object.values(value)) {
    if (!Array.isArray(given))
      throw invalidBody('`answers` to hold a list of strings for each question', given);
    for (const one of given) text('answers', one);
  }
  return value as Readonly<Record<string, readonly string[]>>;
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value;
  throw invalidBody(`\`${name}\` to be a string without a NUL`, value);
}

/** A text that is not blank. */
function speech(name: string, value: unknown): string {
  const said = text(name, value);
  if (said.trim() !== '') return said;
  throw invalidBody(`\`${name}\` to say something`, said);
}

/** What ends a line, steers a terminal or turns the order of letters round. */
const unseemly = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** A name that is shown within a line. */
function word(name: string, value: unknown, most: number): string {
  const said = text(name, value);
  if (said.length > 0 && said.length <= most && !unseemly.test(said)) return said;
  throw invalidBody(`\`${name}\` to have 1 to ${most} characters, and no control characters`, said);
}

/** Default and maximum number of elements of one page. */
const [usual, most] = [50, 200];

/** Parses `?limit=`. INVALID_QUERY_PARAM. */
export function readLimit(query: URLSearchParams): number {
  const limit = readWhole(query, 'limit') ?? usual;
  if (limit === 0) throw invalid('limit', 'at least 1', '0');
  return Math.min(limit, most);
}

/** Parses a whole number of a query; `undefined` if it is absent. INVALID_QUERY_PARAM. */
export function readWhole(query: URLSearchParams, name: string): number | undefined {
  const [given, ...more] = query.getAll(name);
  if (given === undefined) return undefined;
  const whole = /^[0-9]{1,15}$/.test(given) && more.length === 0;
  if (!whole) throw invalid(name, 'one whole number of at most 15 digits', query.getAll(name).join(', '));
  return Number(given);
}

function invalid(name: string, expected: string, found: string): WritError {
  return new WritError('INVALID_QUERY_PARAM', {
    message: `expected \`${name}\` to be ${expected}, found \`${found.slice(0, 100)}\``,
    detail: { name },
  });
}
