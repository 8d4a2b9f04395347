import { confirmIntent } from '../../api/intent/confirm-intent.ts';
import { readVersion } from '../../api/version.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { formatModelChoice } from '../../coder/model-choice.ts';
import { coderWorker } from '../../coder/plugin.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import type { ModelChoice } from '../../core/contract/turns.ts';
import { type DraftedIntent, draftIntent } from '../../engine/run/draft/draft-intent.ts';
import { runIntent } from '../../engine/run/run-intent.ts';
import type { RunSettings } from '../../engine/run/state/run-request.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { draftTarget } from '../command-parts/draft-target.ts';

/** What a person asks the model for. */
const modelRequest =
  'The note of an order is kept with the blanks around it. Keep it without them, and tell it in the changelog.';

/** A request that a model drafted, planned and worked. */
export interface ModelRun {
  readonly drafted: DraftedIntent;
  readonly view: RunView;
}

/** Has a model draft a contract of the request, confirms it, and has it work. */
export async function runByModel(
  engine: WritEngine,
  context: CommandContext,
  repository: string,
  choice: ModelChoice,
  reach: NonNullable<RunSettings['reach']>,
): Promise<ModelRun> {
  const { env, signal } = context;
  const source = { kind: 'worker', worker: coderWorker, from: formatModelChoice(choice) } as const;
  const asked = {
    repositoryPath: repository,
    runId: uuidV7(systemClock.now()),
    source,
    reach,
    clock: systemClock,
    signal,
  };
  const drafted = await draftIntent(engine, {
    ...asked,
    said: [modelRequest],
    target: await draftTarget(context),
    createdAt: toRfc3339(systemClock.now()),
  });
  const specBytes = drafted.contract.bytes;
  await confirmIntent(engine, repository, specBytes);
  const view = await runIntent(engine, {
    ...asked,
    specBytes,
    ...(drafted.model === undefined ? {} : { model: drafted.model }),
    sandbox: 'auto',
    schedulerVersion: readVersion(),
    witness: userJournalWitness(env),
  });
  return { drafted, view };
}
