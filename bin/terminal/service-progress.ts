/* Sends the events of a run to the service of its repository. */
import { runEventsPlugin } from '../../api/run/run-events.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import {
  accessService,
  findServicePlace,
  mayHaveService,
  type ServicePlace,
} from '../../service/find-service.ts';
import { openRunPublisher } from '../../service/run-publisher.ts';
import { openRepository } from '../../workspace/git/repository.ts';

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
