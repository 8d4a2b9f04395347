import { type Mutation, mutations } from './mutation.ts';
import type { Scene, SessionPlace } from './open-session-place.ts';
import { targetOf } from './session-request.ts';

type Bodies = readonly unknown[];

/** Bodies of one route, each with itself as its name. */
function bodies(path: string, status: number, code: string, all: Bodies, scene?: Scene): readonly Mutation[] {
  const changes = all.map((body) => {
    const text = JSON.stringify(body);
    const ascii = text.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
    return [ascii.slice(0, 100), { body: text }] as const;
  });
  return mutations((line) => line.path === path, { status, code }, Object.fromEntries(changes), scene);
}

const answering = '/api/code/interactions/:id';
const attaching = '/api/code/controller/attach';
const speaking = '/api/code/messages';
const leaving = '/api/code/controller/detach';
const listing = '/api/code/threads';
const listening = '/api/code/events';

/** Words that are shown to people and written into lines. */
const hostileNames = [
  '',
  'x'.repeat(201),
  'a\u0000',
  'a\u001b[2J',
  'a\nb',
  'a\r',
  '\u0085',
  'a\u202eb',
  '\u2066',
  'a\u2028b',
];

/** What only one route knows. */
export const routeMutations: Readonly<Record<string, readonly Mutation[]>> = {
  'an answer says one thing, of the question': [
    ...bodies(answering, 422, 'INVALID_INTERACTION_RESPONSE', [
      {},
      ...[
        '',
        'APPROVE',
        'approve ',
        'yes',
        'execute',
        'answer',
        'toString',
        '__proto__',
        'constructor',
        '0',
      ].map((selectedOption) => ({ selectedOption })),
      { selectedOption: 'approve', approved: false },
      { selectedOption: 'deny', approved: true },
      { selectedOption: 'deny', applyToFuture: 'accept_all' },
      { selectedOption: 'approve', applyToFuture: 'decline_all' },
      { approved: false, applyToFuture: 'accept_all' },
      { selectedOption: 'approve', note: 'x' },
      { selectedOption: 'approve', answers: {} },
      { selectedOption: 'approve', answers: { q: ['x'] } },
      { answers: { q: ['x'] } },
      { note: 'approve' },
      { applyToFuture: 'accept_all' },
    ]),
    ...bodies(answering, 400, 'INVALID_BODY', [
      { approved: 'true' },
      { approved: 1 },
      { selectedOption: 'approve', approved: null },
      { selectedOption: 'approve', applyToFuture: 'yes' },
      { selectedOption: 'approve', applyToFuture: true },
      { selectedOption: ['approve'] },
      { selectedOption: 'approve', note: 1 },
      { selectedOption: 'approve', answers: [] },
      { selectedOption: 'approve', answers: 'q' },
      { selectedOption: 'approve', answers: { q: 'x' } },
      { selectedOption: 'approve', answers: { q: [1] } },
      { selectedOption: 'approve', answers: { q: [['x']] } },
      { selectedOption: 'approve', answers: { q: ['a\u0000'] } },
      { selectedoption: 'approve' },
      { option: 'approve' },
    ]),
    ...mutations(
      (line) => line.path === answering,
      { status: 404, code: 'NOT_FOUND' },
      {
        'another question': { target: '/api/code/interactions/none' },
        'a question of the prototype': { target: '/api/code/interactions/__proto__' },
        'the question and a dot': (place, line) => ({ target: `${targetOf(place, line)}.` }),
        'a question of 8,000 characters': { target: `/api/code/interactions/${'x'.repeat(8000)}` },
        'no question': { target: '/api/code/interactions/' },
      },
    ),
  ],
  'two kinds of clients attach, one at a time, with a name': [
    ...bodies(
      attaching,
      400,
      'INVALID_CONTROLLER_KIND',
      ['none', 'tui', 'cli', 'Browser', 'browser ', '', 'local', 'toString', '__proto__'].map((kind) => ({
        clientId: 'client',
        kind,
      })),
    ),
    ...bodies(attaching, 409, 'CONTROLLER_CONFLICT', [
      { clientId: 'other' },
      { clientId: 'Client' },
      { clientId: 'client ' },
      { clientId: '__proto__', kind: 'browser' },
    ]),
    ...bodies(
      attaching,
      400,
      'INVALID_BODY',
      hostileNames.map((clientId) => ({ clientId })),
    ),
    ...mutations(
      (line) => line.path === attaching,
      { status: 403, code: 'MISSING_CONTROL_TOKEN' },
      {
        'as an automation, without its token': { body: '{"clientId":"client","kind":"automation"}' },
      },
    ),
    ...mutations(
      (line) => line.path === attaching,
      { status: 403, code: 'INVALID_CONTROL_TOKEN' },
      {
        'as an automation, with the lease of another': ({ lease }: SessionPlace) => ({
          headers: { 'x-svc-control-token': lease },
          body: '{"clientId":"client","kind":"automation"}',
        }),
      },
    ),
    ...mutations(
      (line) => line.path === attaching,
      { status: 409, code: 'CONTROLLER_CONFLICT' },
      {
        'as an automation, while a browser is there': ({ token }: SessionPlace) => ({
          headers: { 'x-svc-control-token': token },
          body: '{"clientId":"client","kind":"automation"}',
        }),
      },
    ),
    ...bodies(leaving, 400, 'INVALID_BODY', [
      { clientId: 'other' },
      { clientId: 'client ' },
      { clientId: 'client', kind: 'browser' },
    ]),
  ],
  'a message says something': bodies(speaking, 400, 'INVALID_BODY', [
    ...['', ' ', '\n\t', '\u00a0', 'a\u0000'].map((text) => ({ text })),
    ...hostileNames.map((commandId) => ({ text: 'xyz', commandId })),
    { text: 'xyz', commandId: null },
    { text: 'xyz', role: 'system' },
    { text: 'xyz', clientId: 'client' },
  ]),
  'a question to an agent says something': bodies(
    '/api/code/task/dispatch',
    400,
    'INVALID_BODY',
    [
      ...['', ' ', '\n', 'a\u0000'].map((prompt) => ({ agent: 'explorer', prompt })),
      ...hostileNames.map((agent) => ({ agent, prompt: 'xyz' })),
      { agent: 'explorer' },
      { prompt: 'xyz' },
    ],
    'held by an automation',
  ),
  'a goal says something, in 16 KiB': bodies('/api/code/goal/start', 400, 'INVALID_BODY', [
    ...['', ' ', 'a\u0000', 'é'.repeat(8193)].map((objective) => ({ objective })),
    { objective: 'x', criteria: 'y' },
    { objective: 'x', criteria: [1] },
    { objective: 'x', criteria: { length: 1 } },
    { objective: 'x', criteria: ['y'] },
    { objective: 'x', criteria: ['y'.repeat(501)] },
    { objective: 'x', criteria: ['a\u202ecriterion'] },
    { objective: 'x', criteria: Array(21).fill('a criterion') },
    { criteria: ['y'] },
    { objective: 'x', budget: 1 },
  ]),
  'events are asked for by a wire that there is': mutations(
    (line) => line.path === listening,
    { status: 400, code: 'INVALID_QUERY_PARAM' },
    Object.fromEntries(
      [
        'wire=3',
        'wire=',
        'wire',
        'wire=01',
        'wire=2.0',
        'wire=2&wire=2',
        'wire=1&wire=2',
        'wire=2?',
        'wire=%00',
        'wire=__proto__',
      ].map((query) => [query, { target: `${listening}?${query}` }]),
    ),
  ),
  'threads are listed by whole numbers': mutations(
    (line) => line.path === listing,
    { status: 400, code: 'INVALID_QUERY_PARAM' },
    Object.fromEntries(
      [
        'limit=',
        'limit=0',
        'limit=-1',
        'limit=1.5',
        'limit=1e2',
        'limit=0x1',
        'limit=x',
        'limit=1&limit=1',
        'limit=%31%00',
        'limit=+1',
        'limit=9999999999999999',
        'offset=-1',
        'offset=',
        'offset=1,2',
        'offset=1&offset=2',
        'limit=5?',
      ].map((query) => [query, { target: `${listing}?${query}` }]),
    ),
  ),
};
