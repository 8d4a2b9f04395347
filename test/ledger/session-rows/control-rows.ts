import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const control = ofSession('control/open-control');
const routes = ofSession('api/session-routes');
const audit = ofSession('audit/open-audit');
const auth = 'Authentication';
const written = 'a writable session writes a token and a discovery file and removes both at its end';
const speaks = 'a client attaches, sends messages, answers and detaches';
const refusals = 'contradictory or invalid options are usage errors with a reason';
const options = 'test/bin/code/options.test.ts';
const program = 'test/bin/code/code.test.ts';
const serves = '`writ code --web-only` prints one line of JSON, serves until SIGTERM and cleans up';
const early = 'a session that cannot be opened is refused before anything is created';

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
  ...heldBy(auth, control, 'observe mode writes no file except a discovery file that was named', {
    'control observe': 'no file but a discovery file that was named',
  }),
  ...heldBy(
    auth,
    control,
    'a second session on the same control files is refused with the pid of the first',
    {
      'control lock': 'held for life and not unlinked; other files, other instances',
    },
  ),
  ...heldBy(auth, control, 'the control files of a killed session are replaced by the next session', {
    'control stale': 'the holder is dead, or started at another time',
  }),
  ...heldBy(auth, control, 'an unsafe token file stops the session and is left unchanged', {
    'control token file': 'a regular file of 0600, opened no-follow',
  }),
  ...heldBy(auth, control, 'the end of a session removes only control files that it still owns', {
    'control end': 'token and discovery file are removed',
  }),
  ...heldBy(auth, routes, 'an automation needs both tokens for each write', {
    'header X-Svc-Control-Token': 'at attach, and at every write of an automation',
  }),
  ...heldBy(auth, routes, speaks, {
    'header X-Code-Controller-Token': 'at every write',
  }),
  ...heldBy(
    'Controllers',
    routes,
    'the same client resumes its lease, while another waits until it expires',
    {
      'lease 120 s': 'sliding; every accepted write renews it',
      'lease reattach': 'the same client and kind gets the same token',
    },
  ),
  ...heldBy(
    'Controllers',
    ofSession('channel/open-channel'),
    'a lease ends by timer, and subscribers are notified',
    {
      'lease expiry': 'controller_changed by timer',
    },
  ),
  ...heldBy('Controllers', ofSession('state/walk'), 'any sequence of seven commands keeps the invariants', {
    'lease take-over': 'voids pending approvals: they are asked again under other ids',
    'one writer': 'at most one may write, in every state',
    'control reclaim': 'the screen takes the session back',
  }),
  ...heldBy(
    'States and transitions',
    ofSession('tui/control-in-terminal'),
    'the terminal controls the session first, shows a browser attach and reclaims the session',
    {
      'terminal /control reclaim': 'the person at the screen takes the session back',
      'initial LocalTui':
        'with browser control the first controller is the screen, which a page may take it from',
    },
  ),
  ...heldBy(
    'Session snapshot',
    ofSession('state/command-line'),
    'the command line controls its session until a client attaches',
    {
      'controller cli': 'the command line has the session where no client has (`writ demo --session`)',
    },
  ),
  ...heldBy('Controllers', 'test/http/token.test.ts', 'only an identical token matches', {
    'token whole': 'the very same one, and no other',
  }),
  ...heldBy('Controllers', 'test/architecture.test.ts', 'tokens are compared in constant time', {
    'token constant time': 'by `timingSafeEqual` alone, wherever one comes in',
  }),
  ...heldBy(
    'Audit',
    audit,
    'each audit line carries its envelope fields in sequence, in a file of mode 0600',
    {
      'audit trace_id': 'the thread id is derived from the intent id and the instant of its creation',
      'audit principal_id': 'who',
      'audit action': 'what',
      'audit policy_version': 'local-tui-control/v1',
      'audit redacted_summary': 'one line, without secrets',
      'audit at': 'RFC 3339',
      'audit file': 'append-only JSON Lines, 0600',
    },
  ),
  ...heldBy('Audit', audit, 'tampering with an audit log is reported at once and after later writes', {
    'audit chained': 'by hash, vouched for',
  }),
  ...heldBy(
    'Audit',
    ofSession('audit/keep-audit'),
    'the audit log records who sent each command, without secrets or control characters',
    {
      'audit events': 'attach, detach, submit, respond, cancel',
    },
  ),
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
  ...heldBy(
    'Command-line failures',
    options,
    'session options come from the command line, profile, environment and policy',
    {
      'failure provider option': '129',
      'failure --plan-mode': '129 with a provider that is not P8',
      'failure --agent': '129',
    },
  ),
  ...heldBy('Command-line failures', program, early, {
    'failure key': '128, with provider and variable',
    'failure terminal': '128',
  }),
  ...heldBy('Options', program, '`writ code --stdio` warns about exactly the options that have no effect', {
    'mode --stdio': 'MCP alone; options of a server or a model are told not to count',
  }),
  ...heldBy(
    'Command-line failures',
    program,
    'resuming an unknown thread reports its id and creates nothing',
    {
      'failure thread': '1, with the canonical thread',
    },
  ),
  ...heldBy(
    'Command-line failures',
    ofSession('serve/serve-session'),
    'a port that is in use stops the start before the session opens and is named in the error',
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
  ...heldBy(
    'What the service does',
    program,
    'a session prints its address at the start and its `writ graph` command at the end',
    {
      'exit writ graph': 'the line that looks at the thread',
    },
  ),
  ...heldBy(
    'What the service does',
    ofSession('log/open-log'),
    'a log is a private file with the filter from the environment',
    {
      'log WRIT_LOG_FILE': 'a plain file; `writ=debug` where no filter is said',
      'log WRIT_LOG': 'wins over RUST_LOG',
    },
  ),
];
