/* The `writ service` commands. */
import { once } from 'node:events';
import { escapeJson, toEnvelope } from '../../api/envelope.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { parseLoopbackAddress } from '../../http/guard-request.ts';
import { listDirty } from '../../service/dirty-marks.ts';
import { findServicePlace, type ServiceStatus, serviceStatus } from '../../service/find-service.ts';
import { followEvents } from '../../service/run-publisher.ts';
import { startService } from '../../service/run-service.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { parseWhole } from '../command-parts/write-output.ts';
import { type Printer, styled } from '../terminal/print.ts';

const maxPort = 65_535;

/**
 * `writ service run`: serves in the foreground until SIGINT or SIGTERM, then exits 0. With `--json` the document comes
 * when it is ready.
 */
export async function serviceRunCommand(context: CommandContext): Promise<CommandResult> {
  const { options, print, signal, json } = context;
  const host = readHost(options.value('host') ?? '127.0.0.1');
  const port = parseWhole(options.value('port') ?? '0', '--port', maxPort);
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const place = await findServicePlace(repository);
  const service = await startService({
    repository,
    place,
    host,
    port,
    clock: systemClock,
    report: (fault) => print.complain(`writ: INTERNAL_ERROR: ${messageOf(fault)}`),
  });
  const { pid, baseUrl, workingDir, startedAt } = service.discovery;
  const data = {
    pid,
    base_url: baseUrl,
    working_dir: workingDir,
    started_at: startedAt,
    discovery_file: place.discovery,
    token_file: place.token,
  };
  try {
    if (json) print.raw(toEnvelope('service run', { data }, true));
    else print.line(`serving ${workingDir} on ${baseUrl}, Ctrl+C ends it`);
    const told = signal.aborted || once(signal, 'abort');
    const ended = await Promise.race([told, service.lost]);
    if (isWritError(ended)) throw ended;
  } finally {
    await service.stop();
  }
  return succeeded(data, (printer) => printer.note('stopped'));
}

/** A name could be made to mean any address. */
function readHost(text: string): string {
  const address = parseLoopbackAddress(text);
  if (address !== undefined) return address;
  throw new WritError('USAGE', {
    message: `expected a loopback address for --host (127.0.0.0/8 or ::1), found \`${text}\``,
    detail: { option: '--host', expected: '127.0.0.0/8 or ::1', found: text },
  });
}

/** `writ service status`: exit 0 while an instance runs, 1 otherwise. */
export async function serviceStatusCommand(context: CommandContext): Promise<CommandResult> {
  const place = await findServicePlace(await openRepository(context.repoPath ?? context.cwd));
  const status = await serviceStatus(place);
  const human = (printer: Printer): void => print(printer, status);
  if (status.running) return succeeded({ ...status }, human);
  const message =
    status.state === 'stale'
      ? `process ${status.pid} served this repository and is gone; what it left is in \`${place.directory}\``
      : 'no service runs for this repository';
  return refused(
    new WritError('SERVICE_NOT_RUNNING', { message, detail: { state: status.state } }),
    { ...status },
    human,
  );
}

function print(printer: Printer, status: ServiceStatus): void {
  printer.table(
    [
      ['state', status.state],
      ['process', status.pid],
      ['address', status.base_url],
      ['started', status.started_at],
      ['serves', status.working_dir],
      ['token', status.token_file],
      ['health', status.running ? status.health : undefined],
    ].flatMap(([name, value]) => (value === undefined ? [] : [[String(name), String(value)]])),
  );
}

/**
 * `writ service events`: one line per event, until the service or the reader goes (exit 0); exit 1 where none runs.
 * With `--json` each as it was sent.
 */
export async function serviceEventsCommand(context: CommandContext): Promise<CommandResult> {
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

/**
 * `writ service dirty [--clear]`: shows the marks, even if no service runs. `--clear` removes exactly the marks
 * shown.
 */
export async function serviceDirtyCommand(context: CommandContext): Promise<CommandResult> {
  const clear = context.options.flag('clear');
  const place = await findServicePlace(await openRepository(context.repoPath ?? context.cwd));
  const marks = await listDirty(place, { clear, clock: systemClock });
  return succeeded({ marks, cleared: clear }, (printer) => {
    for (const { path } of marks) printer.line(path);
    printer.note(`${marks.length} dirty ${marks.length === 1 ? 'path' : 'paths'}${clear ? ', cleared' : ''}`);
  });
}
