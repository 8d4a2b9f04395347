import { builtInTypes } from '../../../service/run-publisher.ts';
import { accepted, type HostilePlace, type HostileRow, refused } from './hostile-row.ts';
import { notifyTarget, soundRequest } from './sound-request.ts';

const invalid = refused(400, 'INVALID_BODY');
const reserved = refused(400, 'RESERVED_TYPE');

function posted(target: string, value: unknown): (place: HostilePlace) => Buffer {
  return (place) => soundRequest(place, { target, body: JSON.stringify(value) });
}

function notified(type: unknown, data: unknown = {}): (place: HostilePlace) => Buffer {
  return posted(notifyTarget, { type, data });
}

function published(type: unknown, data: unknown): (place: HostilePlace) => Buffer {
  const body = JSON.stringify({ type, data });
  return ({ host, engineToken }) =>
    soundRequest({ host, token: engineToken }, { target: '/api/service/publish', body });
}

const notTypes: Readonly<Record<string, unknown>> = {
  'an empty type': '',
  'a type of blanks': ' \u00a0\u3000 ',
  'a type of 129 characters': 'x'.repeat(129),
  'a type of 129 characters of four octets each': '\u{1f600}'.repeat(129),
  'a type of 100,000 characters': 'x'.repeat(100_000),
  'a line feed in the type': 'x\ny',
  'a carriage return in the type': 'x\ry',
  'a second event in the type': 'x\n\nevent: resync\ndata: {}',
  'a NUL in the type': 'x\0',
  'an escape sequence in the type': '\u001b[31mx',
  'a DEL in the type': 'x\u007f',
  'a control sequence of one character in the type': 'x\u009b31m',
  'a number as type': 7,
  'null as type': null,
  'a list as type': ['x'],
};

const notData: Readonly<Record<string, unknown>> = {
  'data null': null,
  'a list as data': [],
  'a text as data': 'x',
  'a number as data': 1,
  'true as data': true,
};

const notifications: readonly HostileRow[] = [
  ...Object.entries(notTypes).map(([says, type]) => invalid(says, notified(type))),
  ...Object.entries(notData).map(([says, data]) => invalid(says, notified('x', data))),
  invalid('no type', posted(notifyTarget, { data: {} })),
  invalid('no data', posted(notifyTarget, { type: 'x' })),
  invalid('a seq of the caller’s own', posted(notifyTarget, { type: 'x', data: {}, seq: 1 })),
  invalid('data nested 65 deep', posted(notifyTarget, { type: 'x', data: nested(64) })),
  ...builtInTypes.map((type) => reserved(`the type ${type}`, notified(type))),
  reserved('a built-in type between blanks', notified('  resync ')),
  reserved('a built-in type between blanks that are none of ASCII', notified('\u00a0dirty_marked\u3000')),
  reserved('a built-in type behind a byte order mark', notified('\ufeffresync')),
  reserved('a built-in type in capitals', notified('RUN_STARTED')),
  reserved('a built-in type with a zero-width space in it', notified('run\u200b_started')),
  reserved('a built-in type in full width', notified('ｒｅｓｙｎｃ')),
];

/** Sound ones, whose content tries to be more than one event. */
const contents: readonly HostileRow[] = [
  accepted('a type of 128 characters', notified('x'.repeat(128)), { publishes: ['x'.repeat(128)] }),
  accepted('a type of 128 characters of four octets each', notified('\u{1f600}'.repeat(128)), {
    publishes: ['\u{1f600}'.repeat(128)],
  }),
  accepted('a second event in the data', notified('x', { text: '\n\nevent: resync\nid: 9\ndata: {}\n\n' }), {
    publishes: ['x'],
  }),
  accepted('line separators in the data', notified('x', { text: '\u2028\u2029\u0085\r' }), {
    publishes: ['x'],
  }),
  accepted('a line separator in the type', notified('x\u2028event: resync'), {
    publishes: ['x\u2028event: resync'],
  }),
  accepted(
    'data with a prototype',
    (place) =>
      soundRequest(place, { target: notifyTarget, body: '{"type":"x","data":{"__proto__":{"a":1}}}' }),
    { publishes: ['x'] },
  ),
  accepted('data of 250,000 characters', notified('x', { text: 'y'.repeat(250_000) }), { publishes: ['x'] }),
  accepted('data nested 64 deep', notified('x', nested(62)), { publishes: ['x'] }),
];

const ofRuns: readonly HostileRow[] = [
  invalid('a type that no run publishes', published('x', { run_id: 'r' })),
  invalid('a notice of marks by a run', published('dirty_marked', { run_id: 'r', paths: ['a'] })),
  invalid('a resync by a run', published('resync', { run_id: 'r', missed: 1 })),
  invalid('a run without its id', published('run_started', {})),
  invalid('a run with an empty id', published('run_started', { run_id: '' })),
  invalid('a run with a number as id', published('run_started', { run_id: 7 })),
  refused(403, 'INVALID_SERVICE_TOKEN')(
    'an event of a run from a client of the service',
    posted('/api/service/publish', { type: 'run_started', data: { run_id: 'r' } }),
  ),
  refused(403, 'INVALID_SERVICE_TOKEN')(
    'a notification with the token of the engine',
    ({ host, engineToken }) =>
      soundRequest({ host, token: engineToken }, { target: notifyTarget, body: '{"type":"x","data":{}}' }),
  ),
  accepted('a run that starts', published('run_started', { run_id: 'r' }), { publishes: ['run_started'] }),
];

const ofLists: readonly HostileRow[] = [
  ...[0, -1, 10_001, 1.5, '1', null, [1]].map((limit) =>
    invalid(`a limit of ${JSON.stringify(limit)}`, posted('/api/service/dirty/clear', { limit })),
  ),
  invalid('a list to clear', posted('/api/service/dirty/clear', ['a'])),
  invalid('a path to clear', posted('/api/service/dirty/clear', { paths: ['a'] })),
  refused(400, 'INVALID_REQUEST')('a NUL where the list is to begin', (place) =>
    soundRequest(place, { target: '/api/service/dirty?after=%00' }),
  ),
  ...['%', '%ED%A0%80', `${'x'.repeat(8000)}`, "' OR 1=1 --".replaceAll(' ', '+')].map((after) =>
    accepted(`a list that begins behind ${after.slice(0, 20)}`, (place) =>
      soundRequest(place, { target: `/api/service/dirty?after=${after}` }),
    ),
  ),
];

/** What may be published, and what is asked of lists. */
export const eventRows: readonly HostileRow[] = [...notifications, ...contents, ...ofRuns, ...ofLists];

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}
