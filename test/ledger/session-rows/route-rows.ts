import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'Endpoints';
const hostile = ofSession('hostile/hostile-requests');
const routes = ofSession('api/session-routes');
const tasks = ofSession('api/task-routes');
const goals = ofSession('api/goal-routes');
const speaks = 'a client attaches, sends messages, answers and detaches';
const serving = ofSession('serve/serve-session');
const served = 'a served session reports diagnostics without secrets and removes its files at its end';

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
  ...heldBy(
    section,
    ofSession('api/event-streams'),
    'a reader gets the snapshot and then each change of status and controller',
    {
      'route GET /api/code/events': 'event stream',
    },
  ),
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
  ...heldBy('Versioning', routes, 'a lease allows 120 writes per minute', {
    'wire names of errors': 'details in camelCase',
  }),
  ...heldBy('Versioning', ofSession('approvals/keep-grants'), 'grant kinds use snake_case names', {
    'wire words of approvals': 'snake_case',
  }),
  ...heldBy(
    'Versioning',
    ofSession('serve/read-diagnostics'),
    'diagnostics report self-approval as not tried, impossible or possible',
    {
      'wire words of diagnostics': 'snake_case',
    },
  ),
  ...heldBy(
    section,
    ofSession('api/graph-routes'),
    'returns the graph of the current thread or of a given one',
    {
      'route GET /api/code/graph': 'added beside what document 2 names: what `graph --json` has under `data`',
    },
  ),
  ...heldBy('What the service does', ofSession('web/page'), 'the page of a session', {
    page: 'an embedded single-page application',
  }),
  ...heldBy('States and transitions', ofSession('web/page'), 'the page of a session', {
    'page reload': 'the lease is dropped, the next write attaches anew',
  }),
  ...heldBy(
    section,
    ofSession('api/thread-routes'),
    'lists threads in pages and refuses invalid page parameters',
    {
      'route GET /api/code/threads': '`{items, nextOffset?}`; limit 50, at most 200',
      'limit threads': 'default 50, clamped to 200',
    },
  ),
  ...heldBy(section, tasks, 'an automation dispatches an agent and gets its result', {
    'route POST /api/code/task/dispatch': '`{agent, prompt}` → `{accepted: true, result}`',
  }),
  ...heldBy(section, tasks, 'refuses a dispatch by a browser or while a turn is running', {
    'dispatch automation only': 'needs an automation lease',
  }),
  ...heldBy(section, goals, 'the routes start a goal, report its status and cancel it', {
    'route GET /api/code/goal/status': '`{status, goal?}`',
    'route POST /api/code/goal/start':
      '`{objective, criteria?}` → `{accepted: true, status, goal}`; a turn begins',
    'route POST /api/code/goal/cancel': '`{reason?}` → `{accepted: true, status, goal}`',
    'goal fields': '`goal {id, objective, status, criteria[], loops, budget, blockReason?}`',
  }),
  ...heldBy(
    'Beyond the document',
    routes,
    'the controller reviews a hunk, and the review appears in the snapshot',
    {
      'route POST /api/code/reviews': '`{patchset, path, hunk, verdict?, comment?}` → `{accepted: true}`',
    },
  ),
  ...heldBy(
    'Beyond the document',
    ofSession('web/page'),
    'files that are chosen, dropped or pasted go with the next message',
    { 'route POST /api/code/attachments': '`{name, at, of, data}` → `{received, sha256?}`' },
  ),
  ...heldBy(
    'Beyond the document',
    ofSession('api/transcript-routes'),
    'returns earlier transcript entries in pages and refuses invalid parameters',
    {
      'route GET /api/code/transcript': '`?before=&limit=` → `{transcript, earlier}`; limit 50, at most 200',
    },
  ),
  ...heldBy(
    'Beyond the document',
    ofSession('api/approval-routes'),
    'lists grants with their remaining time and lets the controller revoke them',
    {
      'route GET /api/code/approvals': 'what is pre-approved, with its time',
      'route POST /api/code/approvals/revoke': 'is taken back by whoever writes',
    },
  ),
  ...heldBy(section, hostile, 'the table of hostile requests lists every route of the session', {
    'routes closed': 'nothing is served that no row is for',
  }),
  ...heldBy(
    section,
    ofSession('state/converse'),
    'a repeated command has no effect, and another payload under its id is a conflict',
    {
      'messages commandId': 'same text: same answer; other text: COMMAND_PAYLOAD_CONFLICT',
    },
  ),
  ...heldBy(
    section,
    ofSession('state/converse'),
    'modify carries its note, or the next message becomes the note',
    {
      'interactions note': 'goes with modify, or the next message is it',
    },
  ),
  ...heldBy(
    section,
    ofSession('state/converse'),
    'answers are accepted only as a whole, and a secret answer is not stored',
    {
      'interactions answers': '`{questionId: string[]}`; secret ones are kept nowhere',
    },
  ),
  ...heldBy(section, hostile, 'hostile requests to a session get the expected answer and change nothing', {
    'interactions contradiction': '`approved` that contradicts, or an unknown option: 422, it stays pending',
    'rule body 256 KiB': 'every POST, browser and automation alike',
    'rule Host': 'a loopback name or literal',
    'rule Origin': 'same origin for writes of a browser; a foreign one is refused on reads too',
  }),
  ...heldBy(section, ofSession('approvals/covers'), 'a permanent refusal overrides every other answer', {
    'interactions applyToFuture': 'no, accept_all, decline_all',
  }),
  ...heldBy(section, routes, 'checks run in a fixed order, and the first failure is reported', {
    'rule order of refusals': 'peer, Host, Origin, route, method, type, size, session, control, body, state',
  }),
  ...heldBy(
    section,
    'test/http/answer-elsewhere.test.ts',
    'a remote browser gets the notice, a known route LOOPBACK_REQUIRED, anything else NOT_FOUND',
    {
      'rule remote notice': 'HTML navigation from elsewhere gets a static page, the rest 403 or 404',
    },
  ),
  ...heldBy(
    section,
    'test/api/commit.test.ts',
    'a program reports the commit it was built from, not the commit of the surrounding repository',
    {
      'remote notice commit': 'the notice names the commit of the build',
    },
  ),
  ...heldBy(section, 'test/http/guard-request.test.ts', 'refuses a remote peer whatever its headers claim', {
    'rule loopback': 'who is not on this machine is refused whatever it says',
  }),
  ...heldBy(
    'Events',
    ofSession('api/event-streams'),
    'a reader gets the snapshot and then each change of status and controller',
    {
      'event session_updated': 'a full snapshot; first on connect',
      'event status_changed': 'with a full snapshot',
      'event controller_changed': 'with a full snapshot, also at the end of a lease',
      'envelope seq': 'one more each time, the id of the frame',
      'envelope type': 'the event of the frame',
      'envelope at': 'RFC 3339',
      'envelope data': 'the snapshot',
    },
  ),
  ...heldBy('Events', ofSession('api/event-streams'), 'an idle stream sends a comment every 15 seconds', {
    'events keep-alive': 'a comment each 15 s',
  }),
  ...heldBy(
    'Events',
    ofSession('api/event-streams'),
    'groups text deltas into few snapshots and sends all text before a status change',
    {
      'events coalesced': 'at most 10 snapshots a second',
    },
  ),
  ...heldBy(
    'Events',
    ofSession('api/event-streams'),
    'serializes a snapshot once for all readers and not without readers',
    {
      'events serialised once': 'for all subscribers',
    },
  ),
  ...heldBy(
    'Events',
    ofSession('api/event-streams'),
    'moves a slow reader to the newest snapshot without delaying the others',
    {
      'events behind': 'more than 8 MiB: moved to the newest snapshot',
    },
  ),
  ...heldBy(
    'Events',
    'test/http/broadcast.test.ts',
    '50 stalled subscribers get one resync each while 950 others get every event',
    {
      'events behind 256 frames': 'lags, too',
    },
  ),
  ...heldBy(
    'Events',
    ofSession('api/event-streams'),
    'a returning reader gets what it missed, and an unknown id starts over',
    {
      'events Last-Event-ID': 'what followed, else a fresh snapshot',
    },
  ),
  ...heldBy(
    'Events',
    ofSession('api/change-stream'),
    'applying the changes gives the same state as the snapshot at every seed',
    {
      'events wire=2': '`{cursor, eventId, kind, at, payload}`',
    },
  ),
  ...heldBy(
    'Events',
    ofSession('api/change-stream'),
    'a reader that falls behind gets one resync and continues from its cursor',
    {
      'events resync': 'in wire 2',
    },
  ),
];
