import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const requests = ofSession('client/serve-requests');
const speaks =
  'a JSON-RPC client attaches, sends messages, answers and detaches without naming its lease token';
const flow = 'requests and event notifications run side by side until the client unsubscribes';
const rpc = 'an invalid request gets the JSON-RPC error code for its fault, and a notification no answer';
const lists = ofSession('thread/list-threads');
const listed = 'threads are listed in pages, last updated first and then by id';
const vcs = ofSession('vcs/parse-vcs-call');
const graphs = 'test/bin/commands/graph.test.ts';
const two = 'the graph of a replanned thread shows both runs with their plans and decisions';

/** MCP, code-control, threads and graphs. */
export const programRows: readonly SessionRow[] = [
  ...heldBy(
    'What the service does',
    ofSession('tui/code-in-terminal'),
    'a request typed in the terminal becomes a commit',
    {
      'mode terminal': 'a terminal UI with a server behind it',
      'controller tui':
        'the terminal controls the session first, shows a browser attach and reclaims the session',
    },
  ),
  ...heldBy('MCP', vcs, 'common forms of the subcommands are accepted', {
    'vcs status': 'with --json or --porcelain v2',
    'vcs diff': 'reads',
    'vcs branch': 'reads and changes',
    'vcs log': 'reads',
    'vcs show': 'reads',
    'vcs show-ref': 'reads',
    'vcs ls-files': 'reads; --others --exclude-standard',
    'vcs add': 'changes',
    'vcs commit': 'changes',
    'vcs switch': 'changes',
  }),
  ...heldBy(
    'MCP',
    vcs,
    'arguments that name an output file, program, setting or other repository are refused',
    {
      'vcs arguments': 'no output file, upload-pack or config',
    },
  ),
  ...heldBy(
    'MCP',
    ofSession('vcs/hostile-repository'),
    'no VCS call runs a program that the repository or a submodule names',
    {
      'vcs no programs': 'hooks, pagers, external diff, textconv and fsmonitor are off',
    },
  ),
  ...heldBy('MCP', ofSession('mcp/stdio'), 'the official client finds tools and resources and calls them', {
    'mcp run_writ_vcs': '`{command, args[]}`',
    'mcp stdio': 'tools and resources, to one client',
  }),
  ...heldBy('MCP', ofSession('mcp/http'), 'the official client calls tools over HTTP', {
    'mcp http': '`/mcp` on the loopback',
  }),
  ...heldBy(
    'MCP',
    ofSession('mcp/http'),
    'a request without the token, from another host or from a web page is refused',
    {
      'mcp token': 'bearer, in `code/mcp-token`, 0600',
    },
  ),
  ...heldBy(
    'MCP',
    ofSession('mcp/http'),
    'a second server gets its own token file beside that of the first',
    {
      'mcp token of two': 'a session beside another has `mcp-token-PORT`',
    },
  ),
  ...heldBy(
    'MCP',
    ofSession('mcp/served'),
    'a change from an MCP client of a served session needs the approval of the controller',
    {
      'mcp controller': 'a mutating call goes to the live controller',
    },
  ),
  ...heldBy('MCP', ofSession('mcp/consent'), 'a change is made only where policy, controller', {
    'mcp elicitation': 'else to the client, else APPROVAL_REQUIRED',
  }),
  ...heldBy(
    'MCP',
    ofSession('mcp/consent'),
    'the controller learns which client sent a call, and a cancel aborts the question',
    {
      'mcp actor': 'from the transport, never from an argument',
    },
  ),
  ...heldBy('code-control --stdio', requests, speaks, {
    'method session.get': 'the snapshot',
    'method controller.attach': 'the lease is kept',
    'method controller.detach': 'and given back',
    'method message.submit': 'a message',
    'method interaction.respond': 'an answer',
    'method turn.cancel': 'a cancel',
  }),
  ...heldBy('code-control --stdio', requests, flow, {
    'method events.subscribe': '`events.notification {event, data}`',
    'method events.unsubscribe': 'silence',
    'rpc -32001': 'transport',
  }),
  ...heldBy(
    'code-control --stdio',
    requests,
    'a response that is not JSON and an unknown route give different errors',
    {
      'method goal.status': 'the route’s answer',
      'method threads.list': 'the route’s answer',
      'method transcript.get': 'the route’s answer',
      'method diagnostics.get': 'the route’s answer',
      'rpc -32603': 'internal',
      'rpc -32000': 'HTTP error, `data {status, code}`',
    },
  ),
  ...heldBy('code-control --stdio', requests, 'a JSON-RPC client starts and cancels a goal', {
    'method goal.start': 'a goal begins',
    'method goal.cancel': 'it is given up',
  }),
  ...heldBy(
    'code-control --stdio',
    requests,
    '`task.dispatch` returns the reply of the agent that was named',
    {
      'method task.dispatch': '`task.dispatch` returns the reply of the agent that was named',
    },
  ),
  ...heldBy('code-control --stdio', requests, rpc, {
    'rpc -32700': 'no JSON',
    'rpc -32600': 'no request',
    'rpc -32601': 'no such method',
    'rpc -32602': 'wrong parameters',
  }),
  ...heldBy(
    'code-control --stdio',
    requests,
    'a lease token in the parameters is sent instead of the stored token',
    {
      'rpc controllerToken': 'wins over the one that is kept',
    },
  ),
  ...heldBy(
    'code-control --stdio',
    ofSession('client/find-session'),
    '`findSession` returns the address and token of a running session until it ends',
    {
      'code-control discovery': 'endpoint and token by the discovery file',
    },
  ),
  ...heldBy('Threads', lists, listed, {
    'thread id': 'the canonical id',
    'thread title': 'the first message, on one line',
    'thread archived': 'false',
    'thread createdAt': 'RFC 3339',
    'thread updatedAt': 'RFC 3339; descending, then by id',
    'thread nextOffset': 'absent at the end',
  }),
  ...heldBy('Threads', lists, 'a list shows messages added since and drops threads that were removed', {
    'thread currentIntentId': 'the intent that was drafted last',
  }),
  ...heldBy(
    'Threads',
    ofSession('thread/killed-thread'),
    'a thread killed at any instant keeps every acknowledged message in order',
    {
      'thread durable': 'before it is acted on',
    },
  ),
  ...heldBy(
    'Threads',
    ofSession('work/resumed'),
    'a resumed session continues at its open question in another process',
    {
      'thread resume': 'history and pending interactions are there again',
    },
  ),
  ...heldBy('graph', graphs, two, {
    'graph thread_id': 'of the thread',
    'graph title': 'what was said first',
    'graph nodes': '`{id, kind, label, tags[], detail}`',
    'graph edges': '`{from, to, kind}`',
    'graph kinds': 'intent, plan, task, run, patchset, evidence, decision',
  }),
  ...heldBy('graph', graphs, 'the graph of a long thread folds older runs and reports the truncation', {
    'graph truncated': 'where not all of it is there',
  }),
  ...heldBy('graph', graphs, 'a session without runs is a thread titled by its first message', {
    'graph without runs': 'a session is a thread from its opening',
  }),
];
