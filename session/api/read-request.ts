/** Parsers of request bodies and query parameters. All throw INVALID_BODY or INVALID_QUERY_PARAM. */
import { WritError } from '../../core/base/errors.ts';
import {
  as,
  count,
  either,
  flag,
  list,
  mapOf,
  object,
  oneOf,
  parse,
  type Schema,
  text,
  where,
  withDefault,
} from '../../core/base/schema.ts';
import { bodyReader } from '../../http/read-json-body.ts';
import { criterionBounds, maxObjectiveBytes } from '../state/goal.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { HunkReview } from '../state/work.ts';
import { attachmentBounds, type Given, type UploadPiece } from '../thread/attachments.ts';

/** What ends a line, steers a terminal or turns the order of letters round. */
const unseemly = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The body as a whole is bounded. */
const plain = where(
  text(Number.MAX_SAFE_INTEGER, 0),
  'to be a string without a NUL',
  (said) => said.isWellFormed() && !said.includes('\0'),
);
const speech = where(plain, 'to say something', (said) => said.trim() !== '');
/** A name that is shown within a line. */
const name = line(1, 200);

function line(least: number, most: number) {
  return where(
    plain,
    `to have ${least} to ${most} characters, and no control characters`,
    (said) => said.length >= least && said.length <= most && !unseemly.test(said),
  );
}

const trimmed = (inner: Schema<string>) => as(plain, (said) => parse(inner, said.trim()));

export const readAttach = bodyReader(
  object('an attachment', { clientId: name, kind: withDefault(plain, 'browser') }),
);

export const readDetach = bodyReader(object('a detachment', { clientId: name }));

const digest = where(plain, 'to be a SHA-256 in hex', (said) => /^[0-9a-f]{64}$/.test(said));
const attached = either(
  (given) => Object.hasOwn(Object(given), 'text'),
  object('an attached text', { name, text: plain }),
  object('an attached upload', { name, sha256: digest }),
);

const message = bodyReader(
  object(
    'a message',
    { text: speech },
    { commandId: name, attachments: list(attached, attachmentBounds.count) },
  ),
);

/** A message, with what comes with it as `given`. */
export const readMessage: (...body: Parameters<typeof message>) => {
  readonly text: string;
  readonly commandId?: string;
  readonly given?: readonly Given[];
} = (...body) => {
  const { attachments, ...said } = message(...body);
  return attachments === undefined ? said : { ...said, given: attachments };
};

/** A piece of an upload, which a message names by its digest. */
export const readPiece = bodyReader<UploadPiece>(
  object('a piece of a file', {
    name,
    at: count(0),
    of: count(1),
    data: where(plain, 'to be base64', (said) => /^[A-Za-z0-9+/]+={0,2}$/.test(said)),
  }),
);

/** `id` of what was pre-approved. */
export const readRevoke = bodyReader(object('a grant', { id: name }));

export const readReview = bodyReader<HunkReview>(
  object(
    'a review',
    { patchset: name, path: plain, hunk: name },
    { verdict: oneOf('keep', 'reject'), comment: speech },
  ),
);

export const readDispatch = bodyReader(object('a task', { agent: name, prompt: speech }));

export const readGoal = bodyReader(
  object('a goal', {
    objective: trimmed(
      where(
        plain,
        `to have 1 to ${maxObjectiveBytes} octets`,
        (said) => said !== '' && Buffer.byteLength(said) <= maxObjectiveBytes,
      ),
    ),
    criteria: withDefault(
      list(
        // A line that people and a model read.
        trimmed(line(criterionBounds.least, criterionBounds.most)),
        criterionBounds.count,
      ),
      [],
    ),
  }),
);

export const readReason = bodyReader(
  object(
    'a reason',
    {},
    { reason: where(plain, 'to have at most 2000 characters', (said) => said.length <= 2000) },
  ),
);

/** The form of an answer to an interaction. */
export const readAnswer = bodyReader<GivenAnswer>(
  object(
    'an answer',
    {},
    {
      selectedOption: plain,
      approved: flag,
      applyToFuture: oneOf('no', 'accept_all', 'decline_all'),
      note: plain,
      answers: mapOf('a list of strings for each question', list(plain)),
    },
  ),
);

/** A body without members. */
export const readNothing = bodyReader(object('an empty object', {}));

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
