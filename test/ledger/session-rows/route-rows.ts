import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'Endpoints';
const hostile = ofSession('hostile/hostile-requests');
const routes = ofSession('api/session-routes');
const tasks = ofSession('api/task-routes');
const goals = ofSession('api/goal-routes');
const speaks = 'a client attaches, speaks, answers and leaves';
const serving = ofSession('serve/serve-session');
const served = 'a session is served with what it runs on';

/** Every route, what goes in and what comes out. */
export const routeRows: readonly SessionRow[] = [
  ...heldBy(section, routes, speaks, {
    'route GET /api/code/session': 'the snapshot',
    'route POST /api/code/controller/attach':
      '`{clientId, kind?}` → `{controllerToken, leaseExpiresAt, controller}`',
    'route POST /api/code/controller/detach': '`{clientId}` → `{detached: true}`',
    'route POST /api/code/messages': '`{text, commandId?}` → `{accepted: true}`, once for each commandId',
    'route POST /api/code/interactions/:id': '`{selectedOption?, approved?, …}` → `{accepted: true}`',
    'route POST /api/code/control/cancel': 'no body → `{accepted: true}`, also when idle',
  }),
  ...heldBy(section, ofSession('api/event-streams'), 'a reader gets the snapshot, and then each change', {
    'route GET /api/code/events': 'event stream',
  }),
  ...heldBy(section, serving, served, {
    'route GET /api/code/diagnostics': 'redacted, read only',
    'diagnostics pid': 'of the process',
    'diagnostics provider': 'its name',
    'diagnostics model': 'where one is named',
    'diagnostics threadId': 'the canonical thread',
    'diagnostics status': 'of the session',
    'diagnostics controller': 'as in the snapshot',
    'diagnostics ports': 'web and mcp',
    'diagnostics sandbox': 'back end, and what it holds',
    'diagnostics logFile': 'where a log is kept',
    'diagnostics activeInteractionId': 'the question that waits',
    'diagnostics lastError': 'its code alone',
    'diagnostics key': 'which source won, never the value',
  }),
  ...heldBy('Versioning', routes, 'a lease has 120 writes a minute', {
    'wire names of errors': 'details in camelCase',
  }),
  ...heldBy('Versioning', ofSession('approvals/keep-grants'), 'kinds are told in words of the wire', {
    'wire words of approvals': 'snake_case',
  }),
  ...heldBy('Versioning', ofSession('serve/read-diagnostics'), 'whether a command could approve itself', {
    'wire words of diagnostics': 'snake_case',
  }),
  ...heldBy(section, ofSession('api/graph-routes'), 'the graph of the thread is answered', {
    'route GET /api/code/graph': 'added beside what document 2 names: what `graph --json` has under `data`',
  }),
  ...heldBy('What the service does', ofSession('web/page'), 'the page of a session', {
    page: 'an embedded single-page application',
  }),
  ...heldBy('States and transitions', ofSession('web/page'), 'the page of a session', {
    'page reload': 'the lease is dropped, the next write attaches anew',
  }),
  ...heldBy(section, ofSession('api/thread-routes'), 'threads are listed over the loopback', {
    'route GET /api/code/threads': '`{items, nextOffset?}`; limit 50, at most 200',
    'limit threads': 'default 50, clamped to 200',
  }),
  ...heldBy(section, tasks, 'an automation has an agent answer, and is told what came of it', {
    'route POST /api/code/task/dispatch': '`{agent, prompt}` → `{accepted: true, result}`',
  }),
  ...heldBy(section, tasks, 'a browser dispatches nobody', {
    'dispatch automation only': 'needs an automation lease',
  }),
  ...heldBy(section, goals, 'a goal is started, told and given up', {
    'route GET /api/code/goal/status': '`{status, goal?}`',
    'route POST /api/code/goal/start':
      '`{objective, criteria?}` → `{accepted: true, status, goal}`; a turn begins',
    'route POST /api/code/goal/cancel': '`{reason?}` → `{accepted: true, status, goal}`',
    'goal fields': '`goal {id, objective, status, criteria[], loops, budget, blockReason?}`',
  }),
  ...heldBy('Beyond the document', routes, 'a hunk is reviewed by whoever writes', {
    'route POST /api/code/reviews': '`{patchset, path, hunk, verdict?, comment?}` → `{accepted: true}`',
  }),
  ...heldBy('Beyond the document', ofSession('api/transcript-routes'), 'what came before the window', {
    'route GET /api/code/transcript': '`?before=&limit=` → `{transcript, earlier}`; limit 50, at most 200',
  }),
  ...heldBy('Beyond the document', ofSession('api/approval-routes'), 'what is pre-approved is told', {
    'route GET /api/code/approvals': 'what is pre-approved, with its time',
    'route POST /api/code/approvals/revoke': 'is taken back by whoever writes',
  }),
  ...heldBy(section, hostile, 'every route of the session is in the table', {
    'routes closed': 'nothing is served that no row is for',
  }),
  ...heldBy(section, ofSession('state/converse'), 'the same command twice is one', {
    'messages commandId': 'same text: same answer; other text: COMMAND_PAYLOAD_CONFLICT',
  }),
  ...heldBy(section, ofSession('state/converse'), 'modify takes its note along', {
    'interactions note': 'goes with modify, or the next message is it',
  }),
  ...heldBy(section, ofSession('state/converse'), 'answers are taken whole or not at all', {
    'interactions answers': '`{questionId: string[]}`; secret ones are kept nowhere',
  }),
  ...heldBy(section, hostile, 'the table of hostile requests to a session', {
    'interactions contradiction': '`approved` that contradicts, or an unknown option: 422, it stays pending',
    'rule body 256 KiB': 'every POST, browser and automation alike',
    'rule Host': 'a loopback name or literal',
    'rule Origin': 'same origin for writes of a browser; a foreign one is refused on reads too',
  }),
  ...heldBy(section, ofSession('approvals/covers'), 'what was declined for good is not asked again', {
    'interactions applyToFuture': 'no, accept_all, decline_all',
  }),
  ...heldBy(section, routes, 'refusals come in one order', {
    'rule order of refusals': 'peer, Host, Origin, route, method, type, size, session, control, body, state',
  }),
  ...heldBy(section, 'test/http/answer-elsewhere.test.ts', 'a browser elsewhere gets the notice', {
    'rule remote notice': 'HTML navigation from elsewhere gets a static page, the rest 403 or 404',
  }),
  ...heldBy(section, 'test/api/commit.test.ts', 'a program names the commit', {
    'remote notice commit': 'the notice names the commit of the build',
  }),
  ...heldBy(section, 'test/http/guard-request.test.ts', 'a peer elsewhere gets nothing', {
    'rule loopback': 'who is not on this machine is refused whatever it says',
  }),
  ...heldBy('Events', ofSession('api/event-streams'), 'a reader gets the snapshot, and then each change', {
    'event session_updated': 'a full snapshot; first on connect',
    'event status_changed': 'with a full snapshot',
    'event controller_changed': 'with a full snapshot, also at the end of a lease',
    'envelope seq': 'one more each time, the id of the frame',
    'envelope type': 'the event of the frame',
    'envelope at': 'RFC 3339',
    'envelope data': 'the snapshot',
  }),
  ...heldBy('Events', ofSession('api/event-streams'), 'a stream on which nothing happens says so', {
    'events keep-alive': 'a comment each 15 s',
  }),
  ...heldBy('Events', ofSession('api/event-streams'), 'what is said bit by bit comes ten times a second', {
    'events coalesced': 'at most 10 snapshots a second',
  }),
  ...heldBy('Events', ofSession('api/event-streams'), 'a snapshot becomes text once for all readers', {
    'events serialised once': 'for all subscribers',
  }),
  ...heldBy('Events', ofSession('api/event-streams'), 'a reader that does not keep up is moved', {
    'events behind': 'more than 8 MiB: moved to the newest snapshot',
  }),
  ...heldBy('Events', 'test/http/broadcast.test.ts', '1,000 subscribers, 50 of them stalled', {
    'events behind 256 frames': 'lags, too',
  }),
  ...heldBy('Events', ofSession('api/event-streams'), 'who comes back gets what followed', {
    'events Last-Event-ID': 'what followed, else a fresh snapshot',
  }),
  ...heldBy(
    'Events',
    ofSession('api/change-stream'),
    'whoever applies the changes has what the snapshot shows',
    {
      'events wire=2': '`{cursor, eventId, kind, at, payload}`',
    },
  ),
  ...heldBy('Events', ofSession('api/change-stream'), 'who falls behind gets one resync', {
    'events resync': 'in wire 2',
  }),
];
