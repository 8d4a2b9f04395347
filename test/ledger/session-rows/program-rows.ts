import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const requests = ofSession('client/serve-requests');
const speaks = 'a program attaches, speaks, answers and leaves';
const flow = 'requests and events flow at the same time';
const rpc = 'what is no request is told as JSON-RPC has it';
const lists = ofSession('thread/list-threads');
const listed = 'threads are listed from their opening on';
const vcs = ofSession('vcs/parse-vcs-call');
const graphs = 'test/bin/commands/graph.test.ts';
const two = 'a thread of two runs, one of which was planned anew, is drawn';

/** MCP, code-control, threads and graphs. */
export const programRows: readonly SessionRow[] = [
  ...heldBy(
    'What the service does',
    ofSession('tui/code-in-terminal'),
    'a request becomes a commit by what is typed',
    {
      'mode terminal': 'a terminal UI with a server behind it',
      'controller tui': 'the terminal has the session',
    },
  ),
  ...heldBy('MCP', vcs, 'the ten subcommands are taken as people and models write them', {
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
  ...heldBy('MCP', vcs, 'what names a file to write, a program, a setting or another repository is refused', {
    'vcs arguments': 'no output file, upload-pack or config',
  }),
  ...heldBy(
    'MCP',
    ofSession('vcs/hostile-repository'),
    'no program that a repository or a submodule names runs',
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
  ...heldBy('MCP', ofSession('mcp/http'), 'nobody without the token', {
    'mcp token': 'bearer, in `code/mcp-token`, 0600',
  }),
  ...heldBy('MCP', ofSession('mcp/http'), 'a session beside another one leaves it its token', {
    'mcp token of two': 'a session beside another has `mcp-token-PORT`',
  }),
  ...heldBy('MCP', ofSession('mcp/served'), 'a change that a client of a served session wants goes', {
    'mcp controller': 'a mutating call goes to the live controller',
  }),
  ...heldBy('MCP', ofSession('mcp/consent'), 'a change is made only where policy, controller', {
    'mcp elicitation': 'else to the client, else APPROVAL_REQUIRED',
  }),
  ...heldBy('MCP', ofSession('mcp/consent'), 'who asks is told by the transport', {
    'mcp actor': 'from the transport, never from an argument',
  }),
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
  ...heldBy('code-control --stdio', requests, 'an answer that is no JSON, and a route that is not there', {
    'method goal.status': 'the route’s answer',
    'method threads.list': 'the route’s answer',
    'method transcript.get': 'the route’s answer',
    'method diagnostics.get': 'the route’s answer',
    'rpc -32603': 'internal',
    'rpc -32000': 'HTTP error, `data {status, code}`',
  }),
  ...heldBy('code-control --stdio', requests, 'a goal is started and given up by a program', {
    'method goal.start': 'a goal begins',
    'method goal.cancel': 'it is given up',
  }),
  ...heldBy('code-control --stdio', requests, 'an agent is asked by a program', {
    'method task.dispatch': 'an agent is asked',
  }),
  ...heldBy('code-control --stdio', requests, rpc, {
    'rpc -32700': 'no JSON',
    'rpc -32600': 'no request',
    'rpc -32601': 'no such method',
    'rpc -32602': 'wrong parameters',
  }),
  ...heldBy('code-control --stdio', requests, 'a lease token of one’s own is sent', {
    'rpc controllerToken': 'wins over the one that is kept',
  }),
  ...heldBy('code-control --stdio', ofSession('client/find-session'), 'the session that runs here is found', {
    'code-control discovery': 'endpoint and token by the discovery file',
  }),
  ...heldBy('Threads', lists, listed, {
    'thread id': 'the canonical id',
    'thread title': 'the first message, on one line',
    'thread archived': 'false',
    'thread createdAt': 'RFC 3339',
    'thread updatedAt': 'RFC 3339; descending, then by id',
    'thread nextOffset': 'absent at the end',
  }),
  ...heldBy('Threads', lists, 'a list says what was added since', {
    'thread currentIntentId': 'the intent that was drafted last',
  }),
  ...heldBy('Threads', ofSession('thread/killed-thread'), 'killed at any instant, a thread has everything', {
    'thread durable': 'before it is acted on',
  }),
  ...heldBy('Threads', ofSession('work/resumed'), 'a session that is opened again goes on where it waited', {
    'thread resume': 'history and pending interactions are there again',
  }),
  ...heldBy('graph', graphs, two, {
    'graph thread_id': 'of the thread',
    'graph title': 'what was said first',
    'graph nodes': '`{id, kind, label, tags[], detail}`',
    'graph edges': '`{from, to, kind}`',
    'graph kinds': 'intent, plan, task, run, patchset, evidence, decision',
  }),
  ...heldBy('graph', graphs, 'the newest runs of a long thread are drawn whole', {
    'graph truncated': 'where not all of it is there',
  }),
  ...heldBy('graph', graphs, 'a session that ran nothing yet is a thread', {
    'graph without runs': 'a session is a thread from its opening',
  }),
];
