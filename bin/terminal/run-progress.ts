/* Plugins that report the progress of a run: on the terminal, as lines of JSON, and to a service. */
import { toJsonLine } from '../../api/envelope.ts';
import { runEventsPlugin } from '../../api/run/run-events.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import {
  accessService,
  findServicePlace,
  mayHaveService,
  type ServicePlace,
} from '../../service/find-service.ts';
import { openRunPublisher } from '../../service/run-publisher.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { timeWords } from '../report/words.ts';
import type { Progress } from './progress.ts';

/** Shows a run's progress on a terminal, as an ordinary observer plugin. */
export function progressPlugin(progress: Progress): LoadedPlugin {
  return definePlugin({
    name: 'terminal-progress',
    api: 1,
    setup({ hooks }) {
      let settled = 0;
      hooks.tool.started.tap(({ checkId, command, purpose }) => {
        if (checkId !== undefined) progress.time.started();
        const why = purpose === undefined ? '' : ` (${timeWords[purpose]})`;
        progress.update(`checking ${checkId ?? ''}${why}: ${command ?? ''}`);
      });
      hooks.tool.settled.tap(({ request, outcome, durationMs }) => {
        if (request.checkId !== undefined && outcome !== 'denied')
          progress.time.settled(request.purpose, durationMs);
        settled += 1;
        progress.update(`${settled} checks done, last ${request.checkId ?? request.tool}`);
      });
      hooks.stage.settled.tap(({ stage }) => progress.update(`stage ${stage.stage} ${stage.status}`));
      hooks.decision.made.tap(({ type }) => progress.update(`decision: ${type}`));
      return undefined;
    },
  });
}

/**
 * What a command that runs reports while it does: progress on a terminal, events to the service of the repository, and
 * with `--events` one line of JSON on stdout for each.
 */
export function reportingPlugins({
  options,
  print,
  progress,
  repoPath,
  cwd,
}: CommandContext): readonly LoadedPlugin[] {
  return [
    progressPlugin(progress),
    serviceProgressPlugin(repoPath ?? cwd),
    ...(options.flag('events')
      ? [runEventsPlugin('event-lines', (event) => print.raw(toJsonLine(event)))]
      : []),
  ];
}

const settleWithinMs = 1_000;

/** Publishes a run's events to the service of its repository, if one is running. */
export function serviceProgressPlugin(repositoryPath: string): LoadedPlugin {
  let place: Promise<ServicePlace> | undefined;
  const publisher = openRunPublisher(async () => {
    if (!mayHaveService(repositoryPath)) throw new WritError('SERVICE_NOT_RUNNING');
    place ??= openRepository(repositoryPath).then(findServicePlace);
    return accessService(await place);
  }, systemClock);
  return runEventsPlugin(
    'service-progress',
    ({ type, data }) => {
      if (type !== 'tool_settled') publisher.publish(type, data);
    },
    () => publisher.settle(settleWithinMs),
  );
}
