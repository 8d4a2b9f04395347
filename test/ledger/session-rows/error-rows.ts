import { ofSession, type SessionRow } from './session-row.ts';

const hostile = ofSession('hostile/hostile-requests');
const table = 'hostile requests to a session get the expected answer and change nothing';
const goals = ofSession('api/goal-routes');
const refusedGoals = 'refuses an invalid goal, and any goal in a busy or read-only session';
const routes = ofSession('api/session-routes');
const order = 'checks run in a fixed order, and the first failure is reported';
const speaks = 'a client attaches, sends messages, answers and detaches';
const automation = 'an automation needs both tokens for each write';
const transport = ofSession('api/transport-refusals');
const late = 'a session refuses late, oversized or unsupported requests without changing state';
const lists = ofSession('thread/list-threads');
const killed = ofSession('thread/killed-thread');
const consent = ofSession('mcp/consent');
const change = 'a change is made only where policy, controller or the client’s person lets it';
const agents = ofSession('agents/agents');
const stdio = ofSession('mcp/stdio');
const program = 'test/bin/code/code.test.ts';
const early = 'a session that cannot be opened is refused before anything is created';

type Row = readonly [status: number, code: string, test: string, named: string];

const rows: readonly Row[] = [
  [
    403,
    'LOOPBACK_REQUIRED',
    'test/http/answer-elsewhere.test.ts',
    'a remote browser gets the notice, a known route LOOPBACK_REQUIRED, anything else NOT_FOUND',
  ],
  [413, 'PAYLOAD_TOO_LARGE', routes, order],
  [403, 'CONTROL_DISABLED', routes, order],
  [403, 'MISSING_CONTROL_TOKEN', routes, automation],
  [403, 'INVALID_CONTROL_TOKEN', routes, automation],
  [403, 'MISSING_CONTROLLER_TOKEN', routes, order],
  [403, 'INVALID_CONTROLLER_TOKEN', routes, order],
  [400, 'INVALID_CONTROLLER_KIND', routes, order],
  [
    409,
    'CONTROLLER_CONFLICT',
    routes,
    'the same client resumes its lease, while another waits until it expires',
  ],
  [403, 'BROWSER_CONTROL_DISABLED', routes, order],
  [
    403,
    'PERSON_REQUIRED',
    ofSession('state/converse'),
    'a program can lower the session budget, but only the user can raise it',
  ],
  [
    409,
    'SESSION_BUDGET_SPENT',
    ofSession('work/usage'),
    'a session stops before the model call that would exceed its budget',
  ],
  [
    409,
    'SESSION_BUDGET_UNPRICED',
    ofSession('work/usage'),
    'a budget is refused at the latest at the model call if the model has no known price',
  ],
  [
    403,
    'SESSION_POLICY_EXCEEDED',
    ofSession('channel/open-channel'),
    'what the policy denies is refused before it is a fact, whoever asks',
  ],
  [
    403,
    'HOOK_REFUSED',
    ofSession('work/hooks'),
    'a hook that refuses a message keeps it from the model, and its reason is masked',
  ],
  [
    502,
    'HOOK_FAILED',
    ofSession('work/hooks'),
    'a hook that neither allows nor refuses is a refusal, reported by name',
  ],
  [
    403,
    'AUTOMATION_CONTROLLER_REQUIRED',
    ofSession('api/task-routes'),
    'refuses a dispatch by a browser or while a turn is running',
  ],
  [404, 'CODE_UI_UNAVAILABLE', routes, order],
  [
    400,
    'INVALID_QUERY_PARAM',
    ofSession('api/thread-routes'),
    'lists threads in pages and refuses invalid page parameters',
  ],
  [
    500,
    'STATUS_UNAVAILABLE',
    ofSession('api/tell-status'),
    'a status that cannot be computed is STATUS_UNAVAILABLE until it can be',
  ],
  [
    500,
    'THREAD_LIST_FAILED',
    lists,
    'a disk error fails the thread list with `THREAD_LIST_FAILED`, and over HTTP with status 500',
  ],
  [408, 'REQUEST_TIMEOUT', transport, late],
  [417, 'EXPECTATION_FAILED', transport, late],
  [431, 'HEADERS_TOO_LARGE', transport, late],
  [
    500,
    'STORAGE_PATH_INVALID',
    lists,
    'a symlinked directory or damaged index makes the list fail with its own error code',
  ],
  [
    500,
    'DB_UNAVAILABLE',
    lists,
    'a symlinked directory or damaged index makes the list fail with its own error code',
  ],
  [
    500,
    'INTERNAL_ERROR',
    'test/http/loopback-server.test.ts',
    'answers errors in one envelope and hides the details of internal faults',
  ],
  [422, 'UNSUPPORTED_OPERATION', goals, refusedGoals],
  [400, 'INVALID_BODY', routes, order],
  [409, 'COMMAND_PAYLOAD_CONFLICT', routes, speaks],
  [409, 'INTERACTION_NOT_ACTIVE', routes, speaks],
  [422, 'INVALID_INTERACTION_RESPONSE', routes, speaks],
  [409, 'GOAL_ALREADY_ACTIVE', goals, 'the routes start a goal, report its status and cancel it'],
  [409, 'GOAL_NOT_ACTIVE', goals, refusedGoals],
  [
    409,
    'WORKSPACE_CHANGED',
    ofSession('work/plan-talk'),
    'a plan is not executed after its working tree changed',
  ],
  [403, 'ORIGIN_REQUIRED', routes, order],
  [403, 'HOST_FORBIDDEN', routes, order],
  [429, 'RATE_LIMITED', routes, 'a lease allows 120 writes per minute'],
  [404, 'NOT_FOUND', routes, order],
  [405, 'METHOD_NOT_ALLOWED', routes, order],
  [415, 'UNSUPPORTED_MEDIA_TYPE', routes, order],
  [
    409,
    'CONTROL_INSTANCE_CONFLICT',
    ofSession('control/open-control'),
    'a second session on the same control files is refused with the pid of the first',
  ],
  [
    404,
    'SESSION_NOT_RUNNING',
    ofSession('client/find-session'),
    '`findSession` returns the address and token of a running session until it ends',
  ],
  [404, 'THREAD_NOT_FOUND', program, 'resuming an unknown thread reports its id and creates nothing'],
  [409, 'THREAD_BUSY', killed, 'a thread that was cut, changed or written by another user is not resumed'],
  [
    409,
    'THREAD_UNPROVEN',
    killed,
    'a thread that was cut, changed or written by another user is not resumed',
  ],
  [
    409,
    'SELF_APPROVAL_POSSIBLE',
    ofSession('self-test/try-to-approve'),
    'a leaky sandbox is detected and refused where the network is allowed',
  ],
  [
    404,
    'AGENT_UNKNOWN',
    agents,
    'an unknown profile is refused, and a profile for agents only is not primary',
  ],
  [
    422,
    'AGENT_INVALID',
    agents,
    'refuses a profile that is a symlink, a special file, too large or behind a symlink',
  ],
  [400, 'TERMINAL_REQUIRED', program, early],
  [403, 'APPROVAL_REQUIRED', consent, change],
  [403, 'APPROVAL_DENIED', consent, change],
  [404, 'TOOL_UNKNOWN', stdio, 'invalid or undeclared tool arguments are refused with `TOOL_ARGUMENTS`'],
  [422, 'TOOL_ARGUMENTS', stdio, 'invalid or undeclared tool arguments are refused with `TOOL_ARGUMENTS`'],
  [
    401,
    'MCP_TOKEN_REQUIRED',
    ofSession('mcp/http'),
    'a request without the token, from another host or from a web page is refused',
  ],
  [400, 'INVALID_REQUEST', hostile, table],
  [
    503,
    'TOO_MANY_SUBSCRIBERS',
    'test/http/broadcast.test.ts',
    'refuses a stream beyond the limit with TOO_MANY_SUBSCRIBERS',
  ],
  [
    500,
    'PRIVATE_FILE_UNSAFE',
    ofSession('control/open-control'),
    'an unsafe token file stops the session and is left unchanged',
  ],
];

/** Codes that a session answers with, each with its status. */
export const errorRows: readonly SessionRow[] = rows.map(([status, code, test, named]) => ({
  id: `error ${code}`,
  section: 'Errors',
  rule: `status ${status}`,
  test,
  named,
}));
