import type { SessionPlace } from './open-session-place.ts';

interface Outcome {
  readonly status: number;
  readonly code?: string;
}

/**
 * A route of the session as the table of hostile requests knows it: a new one is one line here, and every row is made
 * for it.
 */
export interface RouteLine {
  readonly method: 'GET' | 'POST';
  /** As its source says it. */
  readonly path: `/api/code/${string}`;
  /** What a sound request shows: nothing, what its kind of client has, or the lease. */
  readonly shows: 'nothing' | 'client' | 'lease';
  /** Of a sound request; none where it has no body. */
  readonly body?: (place: SessionPlace) => Readonly<Record<string, unknown>>;
  /** What comes of a sound request; 200 unless told. */
  readonly comes?: Outcome | ((place: SessionPlace) => Outcome);
  readonly streams?: true;
  /** It answers without a session, too. */
  readonly needsNoSession?: true;
  /** Whoever holds another lease is refused before the body is looked at. */
  readonly isForAutomation?: true;
  /** A question is open when it is asked. */
  readonly needsQuestion?: true;
}

export const routeLines: readonly RouteLine[] = [
  { method: 'GET', path: '/api/code/session', shows: 'nothing' },
  { method: 'GET', path: '/api/code/events', shows: 'nothing', streams: true },
  { method: 'GET', path: '/api/code/approvals', shows: 'nothing' },
  {
    method: 'POST',
    path: '/api/code/controller/attach',
    shows: 'client',
    body: ({ kind }) => ({ clientId: 'client', kind }),
  },
  {
    method: 'POST',
    path: '/api/code/controller/detach',
    shows: 'lease',
    body: () => ({ clientId: 'client' }),
  },
  {
    method: 'POST',
    path: '/api/code/messages',
    shows: 'lease',
    body: () => ({ text: 'xyz', commandId: 'c' }),
  },
  {
    method: 'POST',
    path: '/api/code/interactions/:id',
    shows: 'lease',
    body: () => ({ selectedOption: 'approve', applyToFuture: 'no' }),
    needsQuestion: true,
  },
  { method: 'POST', path: '/api/code/control/cancel', shows: 'lease' },
  {
    method: 'POST',
    path: '/api/code/attachments',
    shows: 'lease',
    body: () => ({ name: 'a.txt', data: 'eHl6', at: 0, of: 3 }),
  },
  {
    method: 'POST',
    path: '/api/code/reviews',
    shows: 'lease',
    body: () => ({ patchset: 'p', path: 'a', hunk: 'h', verdict: 'keep', comment: 'x' }),
    comes: { status: 404, code: 'NOT_FOUND' },
  },
  {
    method: 'POST',
    path: '/api/code/approvals/revoke',
    shows: 'lease',
    body: () => ({ id: 'none' }),
    comes: { status: 404, code: 'NOT_FOUND' },
  },
  {
    method: 'POST',
    path: '/api/code/task/dispatch',
    shows: 'lease',
    body: () => ({ agent: 'explorer', prompt: 'xyz' }),
    comes: ({ kind }) =>
      kind === 'automation' ? { status: 200 } : { status: 403, code: 'AUTOMATION_CONTROLLER_REQUIRED' },
    isForAutomation: true,
  },
  { method: 'GET', path: '/api/code/goal/status', shows: 'nothing' },
  { method: 'GET', path: '/api/code/threads', shows: 'nothing', needsNoSession: true },
  { method: 'GET', path: '/api/code/transcript', shows: 'nothing' },
  { method: 'GET', path: '/api/code/diagnostics', shows: 'nothing' },
  { method: 'GET', path: '/api/code/graph', shows: 'nothing' },
  {
    method: 'POST',
    path: '/api/code/goal/start',
    shows: 'lease',
    body: () => ({
      objective: 'x',
      criteria: ['a criterion that no check verifies blocks the goal before any question'],
    }),
  },
  {
    method: 'POST',
    path: '/api/code/goal/cancel',
    shows: 'lease',
    comes: { status: 409, code: 'GOAL_NOT_ACTIVE' },
  },
];
