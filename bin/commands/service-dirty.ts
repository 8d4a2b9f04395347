import { systemClock } from '../../core/base/clock.ts';
import { listDirty } from '../../service/dirty-marks.ts';
import { findServicePlace } from '../../service/service-place.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/**
 * `writ service dirty [--clear]`: the marks, whether a service runs or not; with `--clear` exactly what is shown is
 * taken away.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const clear = context.options.flag('clear');
  const place = await findServicePlace(await openRepository(context.repoPath ?? context.cwd));
  const marks = await listDirty(place, { clear, clock: systemClock });
  return succeeded({ marks, cleared: clear }, (printer) => {
    for (const { path } of marks) printer.line(path);
    printer.note(`${marks.length} dirty ${marks.length === 1 ? 'path' : 'paths'}${clear ? ', cleared' : ''}`);
  });
}
