import { systemClock } from '../core/base/clock.ts';
import { definePlugin, type LoadedPlugin } from '../core/kernel/plugin.ts';
import { openRepository } from '../engine/vcs/repository.ts';
import { accessService } from '../service/find-service.ts';
import { openRunPublisher } from '../service/run-publisher.ts';
import { findServicePlace, type ServicePlace } from '../service/service-place.ts';

const settleWithinMs = 1_000;

/** Publishes what a run does to the service of its repository, if one runs (resolutions C, built-in events). */
export function serviceProgressPlugin(repositoryPath: string): LoadedPlugin {
  return definePlugin({
    name: 'service-progress',
    api: 1,
    setup({ hooks }) {
      let place: Promise<ServicePlace> | undefined;
      const publisher = openRunPublisher(async () => {
        place ??= openRepository(repositoryPath).then(findServicePlace);
        return accessService(await place);
      }, systemClock);
      const begun = new Set<string>();
      const begin = (runId: string, how: Readonly<Record<string, unknown>>): void => {
        if (begun.has(runId)) return;
        begun.add(runId);
        publisher.publish('run_started', { run_id: runId, ...how });
      };
      hooks.plan.review.tap(({ runId, spec, stages }) =>
        begin(runId, { resumed: false, spec_id: spec.metadata.id, summary: spec.intent.summary, stages }),
      );
      hooks.stage.settled.tap(({ runId, stage }) => {
        begin(runId, { resumed: true });
        const { stage: name, status, expected, ran } = stage;
        publisher.publish('stage_settled', { run_id: runId, stage: name, status, expected, ran });
      });
      hooks.decision.made.tap(({ runId, type, rationale, commitSha, waiting }) => {
        begin(runId, { resumed: true });
        const commit = commitSha === undefined ? {} : { commit_sha: commitSha };
        publisher.publish('decision_made', { run_id: runId, type, rationale, ...commit });
        if (waiting?.for === 'approval')
          publisher.publish('approval_needed', { run_id: runId, needed: waiting.needed, rationale });
      });
      hooks.engine.closed.tap(() => publisher.settle(settleWithinMs));
      return undefined;
    },
  });
}
