import { type Asked, type ModelServer, serveModel } from '../providers/model-server.ts';

/** One reply of a model that only reads from its script. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly (readonly [tool: string, given: Readonly<Record<string, unknown>> | string])[];
  /** The reply ends at the limit of its length. */
  readonly isCut?: true;
  /** Instead: a status and its words. */
  /** A text is an HTML page. */
  readonly fails?: readonly [status: number, body: object | string];
}

/**
 * A model in the chat dialect that answers with these, one after the other; after the last it says that its script is
 * over.
 */
export function scriptModel(replies: readonly ScriptedReply[], port = 0): Promise<ModelServer> {
  let next = 0;
  return answeringModel(() => {
    next += 1;
    return replies[next - 1] ?? { text: 'The script is over.' };
  }, port);
}

/** The same, of a model that looks at what it is asked. */
export function answeringModel(replyTo: (asked: Asked) => ScriptedReply, port = 0): Promise<ModelServer> {
  let next = 0;
  return serveModel((asked, response) => {
    const reply = replyTo(asked);
    next += 1;
    if (reply.fails) {
      const [status, body] = reply.fails;
      const isPage = typeof body === 'string';
      response.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json' });
      response.end(isPage ? body : JSON.stringify(body));
      return;
    }
    const calls = (reply.calls ?? []).map(([name, given], index) => ({
      index,
      id: `call-${next}-${index}`,
      type: 'function',
      function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
    }));
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (reply.text) response.write(chunk({ content: reply.text }, null));
    if (calls.length > 0) response.write(chunk({ tool_calls: calls }, null));
    response.write(chunk({}, reply.isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'));
    response.end(
      'data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":50}}\n\ndata: [DONE]\n\n',
    );
  }, port);
}
