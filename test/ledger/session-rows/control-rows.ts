import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const control = ofSession('control/open-control');
const routes = ofSession('api/session-routes');
const audit = ofSession('audit/open-audit');
const auth = 'Authentication';
const written = 'a session that may be written has a token and tells where it is';
const speaks = 'a client attaches, speaks, answers and leaves';
const refusals = 'options that contradict each other are a usage error';
const options = 'test/bin/code/options.test.ts';
const program = 'test/bin/code/code.test.ts';
const serves = '`writ code --web-only` serves until it is told to end';
const early = 'what a session cannot be opened with is refused before anything is made';

/** Who may write, the files of control, the audit log, and what the command line refuses. */
export const controlRows: readonly SessionRow[] = [
  ...heldBy(auth, control, written, {
    'discovery version': '1',
    'discovery mode': 'observe or write',
    'discovery pid': 'of the process',
    'discovery baseUrl': 'where it is served',
    'discovery mcpUrl': 'where MCP is',
    'discovery workingDir': 'of the session',
    'discovery threadId': 'the canonical thread',
    'discovery startedAt': 'RFC 3339',
    'discovery no secret': 'nothing of the token',
    'token 32 bytes': '43 characters of base64url, 0600, new at each start, removed at the end',
  }),
  ...heldBy(auth, control, 'to observe makes no file that nobody asked for', {
    'control observe': 'no file but a discovery file that was named',
  }),
  ...heldBy(auth, control, 'a second session on the same files is told who has them', {
    'control lock': 'held for life and not unlinked; other files, other instances',
  }),
  ...heldBy(auth, control, 'what a killed session left is taken over', {
    'control stale': 'the holder is dead, or started at another time',
  }),
  ...heldBy(auth, control, 'a token file that is not ours alone stops the session', {
    'control token file': 'a regular file of 0600, opened no-follow',
  }),
  ...heldBy(auth, control, 'the end takes away only what is still its own', {
    'control end': 'token and discovery file are removed',
  }),
  ...heldBy(auth, routes, 'an automation shows both tokens at each write', {
    'header X-Svc-Control-Token': 'at attach, and at every write of an automation',
  }),
  ...heldBy(auth, routes, speaks, {
    'header X-Code-Controller-Token': 'at every write',
  }),
  ...heldBy('Controllers', routes, 'one lease: the same client comes back to it', {
    'lease 120 s': 'sliding; every accepted write renews it',
    'lease reattach': 'the same client and kind gets the same token',
  }),
  ...heldBy(
    'Controllers',
    ofSession('channel/open-channel'),
    'a lease ends by timer, and everybody is told',
    {
      'lease expiry': 'controller_changed by timer',
    },
  ),
  ...heldBy('Controllers', ofSession('state/walk'), 'seven commands in every order', {
    'lease take-over': 'voids pending approvals: they are asked again under other ids',
    'one writer': 'at most one may write, in every state',
    'control reclaim': 'the screen takes the session back',
  }),
  ...heldBy(
    'States and transitions',
    ofSession('tui/control-in-terminal'),
    'the terminal has the session first',
    {
      'terminal /control reclaim': 'the person at the screen takes the session back',
      'initial LocalTui':
        'with browser control the first controller is the screen, which a page may take it from',
    },
  ),
  ...heldBy('Session snapshot', ofSession('state/command-line'), 'a session that a command line plays', {
    'controller cli': 'the command line has the session where no client has (`writ demo --session`)',
  }),
  ...heldBy('Controllers', 'test/http/token.test.ts', 'only the very same token matches', {
    'token whole': 'the very same one, and no other',
  }),
  ...heldBy('Controllers', 'test/architecture.test.ts', 'tokens are compared in constant time', {
    'token constant time': 'by `timingSafeEqual` alone, wherever one comes in',
  }),
  ...heldBy('Audit', audit, 'a line is the envelope, in its place', {
    'audit trace_id': 'the thread',
    'audit principal_id': 'who',
    'audit action': 'what',
    'audit policy_version': 'local-tui-control/v1',
    'audit redacted_summary': 'one line, without secrets',
    'audit at': 'RFC 3339',
    'audit file': 'append-only JSON Lines, 0600',
  }),
  ...heldBy('Audit', audit, 'what was done to a log behind its back is told', {
    'audit chained': 'by hash, vouched for',
  }),
  ...heldBy('Audit', ofSession('audit/keep-audit'), 'who did what stands in the log', {
    'audit events': 'attach, detach, submit, respond, cancel',
  }),
  ...heldBy('Command-line failures', options, refusals, {
    'failure --web-only --stdio': '129',
    'failure --control write --stdio': '129',
    'failure --control write --host': '129',
    'failure --resume': '129 with --web-only and --stdio',
    'failure --browser-control --stdio': '129',
    'failure --browser-control --host': '129',
    'failure --goal --stdio': '129: nobody would pursue it',
    'failure --goal': '129 for blanks and for more than 16 KiB',
  }),
  ...heldBy('Command-line failures', options, 'a session is filled in from its line', {
    'failure provider option': '129',
    'failure --plan-mode': '129 with a provider that is not P8',
    'failure --agent': '129',
  }),
  ...heldBy('Command-line failures', program, early, {
    'failure key': '128, with provider and variable',
    'failure terminal': '128',
  }),
  ...heldBy('Options', program, 'what has nothing to act on beside', {
    'mode --stdio': 'MCP alone; options of a server or a model are told not to count',
  }),
  ...heldBy('Command-line failures', program, 'a thread that is not there is told by its id', {
    'failure thread': '1, with the canonical thread',
  }),
  ...heldBy(
    'Command-line failures',
    ofSession('serve/serve-session'),
    'a port that is taken ends the start',
    {
      'failure port': '128, with its number, that of MCP too',
    },
  ),
  ...heldBy('Command-line failures', program, serves, {
    'failure instance': '128, with pid and URL of the other',
    'exit 0': 'at SIGTERM, and nothing is left',
    'mode --web-only': 'serves without a screen',
    'port 0': 'any that is free, told on stdout and in the discovery file',
  }),
  ...heldBy('What the service does', program, 'a person is told where', {
    'exit writ graph': 'the line that looks at the thread',
  }),
  ...heldBy('What the service does', ofSession('log/open-log'), 'a log is a file of this user alone', {
    'log WRIT_LOG_FILE': 'a plain file; `writ=debug` where no filter is said',
    'log WRIT_LOG': 'wins over RUST_LOG',
  }),
];
