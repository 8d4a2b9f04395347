import { type Mutation, mutations, needsLease, writes } from './mutation.ts';
import type { SessionPlace } from './open-session-place.ts';

const lease = 'x-code-controller-token';
const control = 'x-svc-control-token';

const flipped = (token: string, at: number): string =>
  `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;

const wrongTokens: Readonly<Record<string, (token: string) => string | readonly string[]>> = {
  'another of the same length': (token) => 'A'.repeat(token.length),
  'the first character wrong': (token) => flipped(token, 0),
  'the last character wrong': (token) => flipped(token, token.length - 1),
  'cut by one': (token) => token.slice(0, -1),
  'one character more': (token) => `${token}A`,
  'with padding': (token) => `${token}=`,
  'twice in one header': (token) => `${token}, ${token}`,
  'in two headers': (token) => [token, token],
  'a wrong one, then the right one': (token) => ['wrong', token],
  'the right one, then an empty one': (token) => [token, ''],
  'in quotes': (token) => `"${token}"`,
  'behind Bearer': (token) => `Bearer ${token}`,
  empty: () => '',
  'octets beyond ASCII': () => '\u00ff\u00fe',
  '8,000 characters': () => 'A'.repeat(8000),
};

const forged = (header: string, token: (place: SessionPlace) => string) =>
  Object.fromEntries(
    Object.entries(wrongTokens).map(([says, value]) => [
      says,
      // What is wrong with its body is no business of whoever may not write.
      (place: SessionPlace) => ({ headers: { [header]: value(token(place)) }, body: '{"x"' }),
    ]),
  );

const elsewhere = (header: string) => ({
  none: { headers: { [header]: undefined } },
  'in a cookie': (place: SessionPlace) => ({
    headers: { [header]: undefined, cookie: `${header}=${place.lease}` },
  }),
  'as Authorization': (place: SessionPlace) => ({
    headers: { [header]: undefined, authorization: `Bearer ${place.lease}` },
  }),
  'with underscores': (place: SessionPlace) => ({
    headers: { [header]: undefined, [header.replaceAll('-', '_')]: place.lease },
  }),
});

/** The right to write. */
export const controlMutations: Readonly<Record<string, readonly Mutation[]>> = {
  'who shows no lease token is told so': mutations(
    needsLease,
    { status: 403, code: 'MISSING_CONTROLLER_TOKEN' },
    elsewhere(lease),
  ),
  'a lease token is the whole one, once': mutations(
    needsLease,
    { status: 403, code: 'INVALID_CONTROLLER_TOKEN' },
    forged(lease, (place) => place.lease),
  ),
  'a control token is no lease token': mutations(
    needsLease,
    { status: 403, code: 'INVALID_CONTROLLER_TOKEN' },
    { 'the control token': ({ token }) => ({ headers: { [lease]: token, [control]: token } }) },
  ),
  'an automation that shows no control token is told so': mutations(
    needsLease,
    { status: 403, code: 'MISSING_CONTROL_TOKEN' },
    elsewhere(control),
    'held by an automation',
  ),
  'an automation shows the whole control token, once': mutations(
    (line) => needsLease(line),
    { status: 403, code: 'INVALID_CONTROL_TOKEN' },
    forged(control, (place) => place.token),
    'held by an automation',
  ),
  'an automation attaches with the control token only': [
    ...mutations(
      ({ shows }) => shows === 'client',
      { status: 403, code: 'INVALID_CONTROL_TOKEN' },
      Object.fromEntries(
        Object.entries(wrongTokens).map(([says, value]) => [
          says,
          (place: SessionPlace) => ({ headers: { [control]: value(place.token) } }),
        ]),
      ),
      'held by an automation',
    ),
    ...mutations(
      ({ shows }) => shows === 'client',
      { status: 403, code: 'MISSING_CONTROL_TOKEN' },
      elsewhere(control),
      'held by an automation',
    ),
  ],
  'an automation with both is let in': mutations(
    writes,
    'sound',
    { 'as it should be': {} },
    'held by an automation',
  ),
  'a session that takes no clients is written by none': [
    ...mutations(
      needsLease,
      { status: 403, code: 'BROWSER_CONTROL_DISABLED' },
      {
        'a sound request': {},
        'a broken body': { body: '{' },
        'no lease token': { headers: { [lease]: undefined } },
      },
      'closed to all',
    ),
    ...mutations(
      needsLease,
      { status: 403, code: 'CONTROL_DISABLED' },
      {
        'the control token': ({ token }) => ({ headers: { [control]: token } }),
        'a wrong control token': { headers: { [control]: 'x' } },
      },
      'closed to all',
    ),
    ...mutations(
      ({ shows }) => shows === 'client',
      { status: 403, code: 'BROWSER_CONTROL_DISABLED' },
      { 'attaching as a browser': {} },
      'closed to all',
    ),
    ...mutations(
      ({ shows }) => shows === 'client',
      { status: 403, code: 'CONTROL_DISABLED' },
      {
        'attaching as an automation': ({ token }) => ({
          headers: { [control]: token },
          body: '{"clientId":"a","kind":"automation"}',
        }),
      },
      'closed to all',
    ),
    ...mutations(
      ({ shows }) => shows === 'nothing',
      'sound',
      { 'is read all the same': {} },
      'closed to all',
    ),
  ],
  'without a session there is nothing': mutations(
    ({ needsNoSession }) => needsNoSession !== true,
    { status: 404, code: 'CODE_UI_UNAVAILABLE' },
    {
      'a sound request': {},
      'a broken body': { body: '{' },
      'no lease token': { headers: { [lease]: undefined } },
      'a control token': ({ token }) => ({ headers: { [control]: token } }),
    },
    'without a session',
  ),
};
