import { once } from 'node:events';
import { toEnvelope } from '../../api/envelope.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { parseLoopbackAddress } from '../../http/addresses.ts';
import { startService } from '../../service/run-service.ts';
import { findServicePlace } from '../../service/service-place.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { parseWhole } from '../command-parts/write-output.ts';

const maxPort = 65_535;

/**
 * `writ service run`: serves in the foreground until SIGINT or SIGTERM, then exits 0. With `--json` the document comes
 * when it is ready.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
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
