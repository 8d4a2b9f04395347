/* Recognises failures in the answers of vendors. */
import type { FailureKind } from '../../core/interfaces/model.ts';
import { rowOf } from './traffic-file.ts';
import { countIn, objectIn, partsOf, type SaidFailure, textIn } from './wire-format.ts';

const byStatus: Readonly<Record<number, FailureKind>> = {
  401: 'key-refused',
  402: 'no-credit',
  403: 'forbidden',
  404: 'unknown-model',
  408: 'overloaded',
  413: 'too-large',
  429: 'rate-limited',
  503: 'overloaded',
  529: 'overloaded',
};

/** Returns the kind of failure for a status, if the vendor's body is not more specific (RFC 9110, 15.5 and 15.6). */
export function failureByStatus(status: number): FailureKind {
  return byStatus[status] ?? (status >= 500 ? 'server' : 'bad-request');
}

/** What a vendor's words for a failure mean. */
interface FailureWords {
  /** By `error.code`, else by `error.type`: each is more specific than the status. */
  readonly byWord: Readonly<Record<string, FailureKind>>;
  /** For failures that only the message distinguishes. Linear expressions. */
  readonly byMessage?: readonly (readonly [RegExp, FailureKind])[];
}

/**
 * Parses `{error: {message, type, code}}`, the form of most vendors; some servers send `{error: 'text'}` or `{object:
 * 'error', message, type, code}`. Without a status, the failure came in the middle of a reply, where no header sets
 * the wait.
 */
export function saidFailure(
  { byWord, byMessage = [] }: FailureWords,
  status: number | undefined,
  body: unknown,
): SaidFailure {
  const { error, object } = partsOf(body);
  const { message, type, code } = partsOf(object === 'error' ? body : error);
  const found = (textIn(message) || textIn(error)).slice(0, 2000);
  const kind =
    rowOf(byWord, textIn(code) || String(countIn(code) ?? '')) ??
    rowOf(byWord, textIn(type)) ??
    byMessage.find(([words]) => words.test(found))?.[1] ??
    (status === undefined ? 'server' : failureByStatus(status));
  const wait = status === undefined ? secondsInWords(found) : undefined;
  return { kind, found, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
}

/**
 * Whether a frame of a reply, or the first of a list of frames, reports a failure. `{detail}` alone comes from a web
 * framework in place of a model server.
 */
export function saysFailure(frame: unknown): boolean {
  const { error, object, detail, ...others } = partsOf(Array.isArray(frame) ? frame[0] : frame);
  if (objectIn(error) !== undefined || textIn(error) !== '' || object === 'error') return true;
  return detail !== undefined && Object.keys(others).length === 0;
}

/** Messages of servers for a prompt that exceeds the model's context. Linear expressions. */
const words: readonly RegExp[] = [
  /\bmaximum (?:context|model|prompt|input) length\b/i,
  /\bcontext[ _](?:length|size|window|limit)[ _]?(?:has been |is |was )?exceed/i,
  /\bexceeds? (?:the )?(?:available |maximum |model'?s? |allowed )?(?:context|max(?:imum)? (?:length|number of tokens|allowed))/i,
  /\b(?:prompt|input|request) (?:is )?(?:too long|longer than)/i,
  /\b(?:greater|longer) than the (?:model'?s? )?context length\b/i,
  /\btoken count of \d+ exceeds\b/i,
  /\brange of input length should be\b/i,
  /\breduce the length of the messages\b/i,
  /`max_new_tokens` must be <=/i,
  /\btoo many tokens\b/i,
  /\bexceeded model token limit\b/i,
  // LM Studio, TabbyAPI, TGI.
  /\bmodel is loaded with context length of only\b/i,
  /\breached context length of \d+/i,
  /\bgreater than max_seq_len\b/i,
  /\bmust have less than \d+ tokens\b/i,
  // The reply that was asked for.
  /\bmax_(?:completion_|output_)?tokens\b.{0,120}\b(?:too large|at most|less than or equal|valid range|maximum)\b/is,
  /\bvalid range of max_(?:completion_|output_)?tokens\b/i,
];

/** A request that is larger than the limit of a minute: waiting does not help. OpenAI, Groq. */
const overMinute = /\brequest too large\b.{0,300}\btokens per min/i;

/**
 * Returns the failure; if its message reports that the prompt is too long, it becomes `too-large`, whatever the
 * vendor's kind.
 */
export function withTooLarge(said: SaidFailure): SaidFailure {
  const found = said.found.slice(0, 2000);
  if (said.kind === 'rate-limited' && overMinute.test(found)) return { ...said, kind: 'too-large' };
  if (said.kind !== 'bad-request' && said.kind !== 'server') return said;
  return words.some((one) => one.test(found)) ? { ...said, kind: 'too-large' } : said;
}

/** A question that was answered with another status than 200. */
interface RefusedQuestion {
  readonly base: string;
  /** Whether the base was given: the vendor's own is right. */
  readonly isOtherBase: boolean;
  readonly path: string;
  readonly model: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the answer. */
  readonly text: string;
}

const redirects = [301, 302, 303, 307, 308];

/**
 * Returns the failure of a request to a wrong address: one that redirects, or a base without a model server. Returns
 * `undefined` if the address is right. For an unknown model, a vendor also answers 404, and names the model.
 */
export function wrongAddress(asked: RefusedQuestion, said: SaidFailure): SaidFailure | undefined {
  const { base, isOtherBase, path, status } = asked;
  const [plainPath = ''] = path.split('?', 1);
  const address = `\`${base}${plainPath}\``;
  if (redirects.includes(status)) {
    const to = addressOf(asked.headers.location, `${base}${plainPath}`);
    if (to === undefined)
      return wrong(
        `${address} redirects to another address, which it does not name. Correct \`--api-base\`.`,
      );
    const newBase = to.endsWith(plainPath) ? to.slice(0, -plainPath.length) : undefined;
    return wrong(
      `${address} redirects to \`${to}\`. ${newBase === undefined ? 'Correct `--api-base`.' : `Set \`--api-base\` to \`${newBase}\`.`}`,
    );
  }
  const isUnknownPath =
    status === 405 || (status === 404 && said.kind === 'unknown-model' && !namesModel(asked, said));
  if (!isUnknownPath || !isOtherBase) return undefined;
  return wrong(`no model answers at ${address}. ${correction(base, plainPath)}`);
}

function wrong(found: string): SaidFailure {
  return { kind: 'wrong-address', found };
}

function namesModel({ text, model }: RefusedQuestion, { found }: SaidFailure): boolean {
  if (/^\s*</.test(text)) return false;
  const words = found || text.slice(0, 2000);
  return /model|\u6a21\u578b/i.test(words) || (model.length > 3 && words.includes(model));
}

function correction(base: string, path: string): string {
  if (path.startsWith('/api/') && /\/v\d\w{0,9}$/.test(base))
    return `Set \`--api-base\` to \`${base.replace(/\/v\d\w{0,9}$/, '')}\`.`;
  // The paths of the chat dialect are below a version.
  if (!/\/v\d/.test(`${base}${path}`) && !path.startsWith('/api/'))
    return `Correct \`--api-base\`: many servers answer at \`${base}/v1\`.`;
  return 'Correct `--api-base`.';
}

/** The address in a `Location`, without its query, which may hold secrets. */
function addressOf(location = '', asked: string): string | undefined {
  if (location === '' || location.length > 2048 || !URL.canParse(location, asked)) return undefined;
  const { protocol, origin, pathname } = new URL(location, asked);
  return /^https?:$/.test(protocol) ? `${origin}${pathname}`.slice(0, 300) : undefined;
}

/** Longest wait that a header may request: a vendor that requests a week has refused. */
const mostSeconds = 86_400;

/** `Retry-After` in seconds from now (RFC 9110, 10.2.3); `retry-after-ms` where it is finer. */
export function retryAfterSeconds(
  headers: Readonly<Record<string, string>>,
  nowMs: number,
): number | undefined {
  const fine = headers['retry-after-ms'];
  if (fine !== undefined && /^\d{1,9}$/.test(fine)) return bounded(Number(fine) / 1000);
  const text = headers['retry-after']?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return bounded(Number(text));
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : bounded((at - nowMs) / 1000);
}

/** `Please try again in 1.5s`: the only wait in a failure in the middle of a stream. */
function secondsInWords(text: string): number | undefined {
  const [, count, unit] = /\btry again in (\d{1,6}(?:\.\d{1,6})?) ?(ms|s)\b/i.exec(text) ?? [];
  if (count === undefined) return undefined;
  return bounded(Number(count) / (unit?.toLowerCase() === 'ms' ? 1000 : 1));
}

/** Limits a vendor's wait to one day. */
export function bounded(seconds: number): number {
  return Math.min(mostSeconds, Math.max(0, seconds));
}
