import { escapeJson } from '../../api/envelope.ts';
import { followEvents } from '../../service/run-publisher.ts';
import { findServicePlace } from '../../service/service-place.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { type Printer, styled } from '../terminal/print.ts';

/**
 * `writ service events`: one line per event, until the service or the reader goes (exit 0); exit 1 where none runs.
 * With `--json` each as it was sent.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { print, signal, json } = context;
  const place = await findServicePlace(await openRepository(context.repoPath ?? context.cwd));
  let isRead = true;
  let events = 0;
  await followEvents(place, {
    signal,
    onOpen: (baseUrl) => print.note(`following ${baseUrl}, Ctrl+C ends it`),
    onEvent: async (data) => {
      events += 1;
      if (json) print.raw(`${escapeJson(data)}\n`);
      else printEvent(print, data);
      isRead = await print.taken();
      return isRead;
    },
  });
  return succeeded({ events }, (printer) => {
    if (isRead) printer.note(`the service ended after ${events} ${events === 1 ? 'event' : 'events'}`);
  });
}

function printEvent(print: Printer, text: string): void {
  const { seq, type, data } = JSON.parse(text) as {
    readonly seq: number;
    readonly type: string;
    readonly data: unknown;
  };
  print.line(styled('dim', `[${seq}]`), ' ', styled('cyan', type), ' ', JSON.stringify(data));
}
