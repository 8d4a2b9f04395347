import { type Asked, type ModelServer, serveModel } from '../../providers/model-server.ts';

/** One reply: items of the Responses API, or a status and its words. */
export type ScriptedItems =
  | readonly object[]
  | { readonly fails: readonly [status: number, body: object, headers?: Readonly<Record<string, string>>] }
  /** Never answers. */
  | 'hang';

let calls = 0;

/** A command, as models that Codex does not know ask for one. */
export function exec(cmd: string, more: object = {}): object {
  calls += 1;
  const given = JSON.stringify({ cmd, ...more });
  return { type: 'function_call', call_id: `call-${calls}`, name: 'exec_command', arguments: given };
}

/** A patch in the same way: Codex takes it out of the command and applies it itself. */
export function patch(text: string): object {
  return exec(`apply_patch <<'EOF'\n${text}\nEOF`);
}

/** JavaScript in code mode. */
export function code(input: string): object {
  calls += 1;
  return { type: 'custom_tool_call', call_id: `call-${calls}`, name: 'exec', input };
}

export function say(text: string): object {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

/** A Responses endpoint that answers with these, one after the other, and with the last one from then on. */
export function scriptResponses(replies: readonly ScriptedItems[]): Promise<ModelServer> {
  let next = 0;
  return answerResponses(() => {
    next += 1;
    return replies[Math.min(next, replies.length) - 1] ?? [say('The script is over.')];
  });
}

/** The same of a model that looks at what it is asked. */
export function answerResponses(replyTo: (asked: Asked) => ScriptedItems): Promise<ModelServer> {
  let next = 0;
  return serveModel((asked, response) => {
    const reply = replyTo(asked);
    next += 1;
    if (reply === 'hang') return;
    if ('fails' in reply) {
      const [status, body, headers = {}] = reply.fails;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
      return;
    }
    const send = (type: string, more: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    send('response.created', { response: { id: `r${next}` } });
    for (const item of reply) send('response.output_item.done', { item });
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 150,
    };
    send('response.completed', { response: { id: `r${next}`, usage } });
    response.end();
  });
}
