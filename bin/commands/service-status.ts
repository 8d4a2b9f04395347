import { WritError } from '../../core/base/errors.ts';
import { findServicePlace } from '../../service/service-place.ts';
import { type ServiceStatus, serviceStatus } from '../../service/service-status.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import type { Printer } from '../terminal/print.ts';

/** `writ service status`: exit 0 while an instance runs, 1 otherwise. */
export async function run(context: CommandContext): Promise<CommandResult> {
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
