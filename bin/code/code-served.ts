import { once } from 'node:events';
import { toEnvelope } from '../../api/envelope.ts';
import type { SessionLog } from '../../session/log/open-log.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import type { CodeLine } from './code-line.ts';
import { serveLine } from './serve-line.ts';

/** `writ code` without a screen: says where it is served, and serves until the signal ends it. */
export function codeServed(context: CommandContext, line: CodeLine, log: SessionLog): Promise<CommandResult> {
  const { print, signal, json } = context;
  return serveLine(context, line, log, async ({ served: { threadId, baseUrl }, data }) => {
    if (json) print.raw(toEnvelope('code', { data }, true));
    else print.line(`serving thread ${threadId} on ${baseUrl}, Ctrl+C ends it`);
    if (!signal.aborted) await once(signal, 'abort');
  });
}
