import { ofSession, type SessionRow } from './session-row.ts';

const hostile = ofSession('hostile/hostile-requests');
const table = 'the table of hostile requests to a session';
const goals = ofSession('api/goal-routes');
const refusedGoals = 'a goal is refused for what is wrong with it';
const routes = ofSession('api/session-routes');
const order = 'refusals come in one order';
const speaks = 'a client attaches, speaks, answers and leaves';
const automation = 'an automation shows both tokens at each write';
const transport = ofSession('api/transport-refusals');
const late = 'what is late, expects the unknown or is too large';
const lists = ofSession('thread/list-threads');
const killed = ofSession('thread/killed-thread');
const consent = ofSession('mcp/consent');
const change = 'a change is made only where policy, controller or the client’s person lets it';
const agents = ofSession('agents/agents');
const stdio = ofSession('mcp/stdio');
const program = 'test/bin/code/code.test.ts';
const early = 'what a session cannot be opened with is refused before anything is made';

type Row = readonly [status: number, code: string, test: string, named: string];

const rows: readonly Row[] = [
  [403, 'LOOPBACK_REQUIRED', 'test/http/answer-elsewhere.test.ts', 'a browser elsewhere gets the notice'],
  [413, 'PAYLOAD_TOO_LARGE', routes, order],
  [403, 'CONTROL_DISABLED', routes, order],
  [403, 'MISSING_CONTROL_TOKEN', routes, automation],
  [403, 'INVALID_CONTROL_TOKEN', routes, automation],
  [403, 'MISSING_CONTROLLER_TOKEN', routes, order],
  [403, 'INVALID_CONTROLLER_TOKEN', routes, order],
  [400, 'INVALID_CONTROLLER_KIND', routes, order],
  [409, 'CONTROLLER_CONFLICT', routes, 'one lease: the same client comes back to it'],
  [403, 'BROWSER_CONTROL_DISABLED', routes, order],
  [403, 'PERSON_REQUIRED', ofSession('state/converse'), 'a program lowers what a session may cost'],
  [409, 'SESSION_BUDGET_SPENT', ofSession('work/usage'), 'a session stops before the question'],
  [409, 'SESSION_BUDGET_UNPRICED', ofSession('work/usage'), 'a limit that cannot be held is refused'],
  [403, 'AUTOMATION_CONTROLLER_REQUIRED', ofSession('api/task-routes'), 'a browser dispatches nobody'],
  [404, 'CODE_UI_UNAVAILABLE', routes, order],
  [400, 'INVALID_QUERY_PARAM', ofSession('api/thread-routes'), 'threads are listed over the loopback'],
  [500, 'STATUS_UNAVAILABLE', ofSession('api/tell-status'), 'a session that cannot be told'],
  [500, 'THREAD_LIST_FAILED', lists, 'a disk that cannot be read'],
  [408, 'REQUEST_TIMEOUT', transport, late],
  [417, 'EXPECTATION_FAILED', transport, late],
  [431, 'HEADERS_TOO_LARGE', transport, late],
  [500, 'STORAGE_PATH_INVALID', lists, 'a place that leads elsewhere'],
  [500, 'DB_UNAVAILABLE', lists, 'a place that leads elsewhere'],
  [
    500,
    'INTERNAL_ERROR',
    'test/http/loopback-server.test.ts',
    'what a route throws is answered in the one envelope',
  ],
  [422, 'UNSUPPORTED_OPERATION', goals, refusedGoals],
  [400, 'INVALID_BODY', routes, order],
  [409, 'COMMAND_PAYLOAD_CONFLICT', routes, speaks],
  [409, 'INTERACTION_NOT_ACTIVE', routes, speaks],
  [422, 'INVALID_INTERACTION_RESPONSE', routes, speaks],
  [409, 'GOAL_ALREADY_ACTIVE', goals, 'a goal is started, told and given up'],
  [409, 'GOAL_NOT_ACTIVE', goals, refusedGoals],
  [
    409,
    'WORKSPACE_CHANGED',
    ofSession('work/plan-talk'),
    'a plan is executed on the work tree it was made for',
  ],
  [403, 'ORIGIN_REQUIRED', routes, order],
  [403, 'HOST_FORBIDDEN', routes, order],
  [429, 'RATE_LIMITED', routes, 'a lease has 120 writes a minute'],
  [404, 'NOT_FOUND', routes, order],
  [405, 'METHOD_NOT_ALLOWED', routes, order],
  [415, 'UNSUPPORTED_MEDIA_TYPE', routes, order],
  [
    409,
    'CONTROL_INSTANCE_CONFLICT',
    ofSession('control/open-control'),
    'a second session on the same files is told',
  ],
  [404, 'SESSION_NOT_RUNNING', ofSession('client/find-session'), 'the session that runs here is found'],
  [404, 'THREAD_NOT_FOUND', program, 'a thread that is not there is told by its id'],
  [409, 'THREAD_BUSY', killed, 'a thread that somebody else wrote, cut or changed'],
  [409, 'THREAD_UNPROVEN', killed, 'a thread that somebody else wrote, cut or changed'],
  [409, 'SELF_APPROVAL_POSSIBLE', ofSession('self-test/try-to-approve'), 'a sandbox that lets it is seen'],
  [404, 'AGENT_UNKNOWN', agents, 'a profile is unknown where nobody has it'],
  [422, 'AGENT_INVALID', agents, 'a profile is a plain file in plain directories'],
  [400, 'TERMINAL_REQUIRED', program, early],
  [403, 'APPROVAL_REQUIRED', consent, change],
  [403, 'APPROVAL_DENIED', consent, change],
  [404, 'TOOL_UNKNOWN', stdio, 'arguments of another form'],
  [422, 'TOOL_ARGUMENTS', stdio, 'arguments of another form'],
  [401, 'MCP_TOKEN_REQUIRED', ofSession('mcp/http'), 'nobody without the token'],
  [400, 'INVALID_REQUEST', hostile, table],
  [503, 'TOO_MANY_SUBSCRIBERS', 'test/http/broadcast.test.ts', 'no more streams than are allowed'],
  [500, 'PRIVATE_FILE_UNSAFE', ofSession('control/open-control'), 'a token file that is not ours alone'],
];

/** Codes that a session answers with, each with its status. */
export const errorRows: readonly SessionRow[] = rows.map(([status, code, test, named]) => ({
  id: `error ${code}`,
  section: 'Errors',
  rule: `status ${status}`,
  test,
  named,
}));
