/* The part of the demo in which a recorded model drafts and makes a change. */
import { formatModelChoice } from '../../agent/instructions.ts';
import { coderWorker } from '../../agent/plugin.ts';
import { readVersion } from '../../api/build.ts';
import { confirmIntent } from '../../api/intent/lifecycle.ts';
import { draftTarget } from '../../api/intent/read-project.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { parseBundle } from '../../attest/bundle/bundle.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../../attest/encoding/expect-json.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import { type DraftedIntent, draftIntent } from '../../engine/draft/draft-intent.ts';
import { readDraftPrompt } from '../../engine/draft/draft-request.ts';
import { runIntent } from '../../engine/run.ts';
import type { RunSettings } from '../../engine/state/run-request.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { findRun } from '../../store/record/list-records.ts';
import type { Stores } from '../../store/stores.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { type Printer, styled } from '../terminal/print.ts';

/** The user's request to the model. */
const modelRequest =
  'The note of an order is kept with the blanks around it. Keep it without them, and tell it in the changelog.';

/** A request that a model drafted, planned and worked. */
interface ModelRun {
  readonly drafted: DraftedIntent;
  readonly view: RunView;
}

/** Lets a model draft a spec from the request, confirms it and runs it. */
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

/** A request that a model fulfilled, and whether the commit verifies. */
export interface ModelPart extends ModelRun {
  readonly verified: readonly VerifiedTarget[];
}

/** True where the commit of the model's run holds in every claim. */
function isModelVerified({ verified }: ModelPart): boolean {
  return verified.length > 0 && verified.every(({ report }) => report.verified);
}

/** Prints the request, the drafted spec and the run's result in a few lines. */
export function printModelRun(printer: Printer, part: ModelPart): void {
  const { drafted, view } = part;
  const { document, effective } = drafted.contract;
  const { said = [], provider = '', model = '', turns = 0 } = readDraftPrompt(document) ?? {};
  const { decision, retries } = view;
  printer.line('  asked     ', said[0] ?? '');
  printer.line(
    '  drafted   ',
    `${effective.intent.objectives.length} objectives, ${effective.risk.level} risk, in ${turns} turns of ${provider} ${model}, recorded`,
  );
  for (const repair of drafted.repairs) printer.line(styled('dim', `             ${repair}`));
  for (const { failed, tasks, reason } of retries?.first ?? [])
    printer.line('  tried again', styled('dim', ` ${failed} ${tasks.join(', ')}: ${reason}`));
  const commit = decision?.commitSha === undefined ? '' : `  ${decision.commitSha} on ${view.targetRef}`;
  printer.line(
    '  ',
    styled(decision?.type === 'commit' ? 'green' : 'red', decision?.type ?? view.state),
    commit,
    isModelVerified(part) ? styled('green', '  verified') : styled('red', '  not verified'),
  );
}

/** The same as data. */
export function toModelData(part: ModelPart) {
  const { drafted, view } = part;
  const { document, effective, digest } = drafted.contract;
  const { said = [], provider = '', model = '', turns = 0 } = readDraftPrompt(document) ?? {};
  return {
    run_id: view.runId,
    request: said[0] ?? '',
    provider,
    model,
    draft_turns: turns,
    spec_digest: digest,
    risk_level: effective.risk.level,
    repairs: drafted.repairs,
    objectives: effective.intent.objectives,
    retries: view.retries?.count ?? 0,
    decision: view.decision?.type ?? null,
    commit_sha: view.decision?.commitSha ?? null,
    verified: isModelVerified(part),
  };
}

/** Returns the first unexpected result of the model's run; `undefined` if there is none. */
export function whatIsWrongWithModel(part: ModelPart): string | undefined {
  const { view, drafted } = part;
  if (view.decision?.type !== 'commit')
    return `the model's change was not committed: ${view.decision?.rationale ?? view.state}`;
  if (view.retries?.count !== 1) return 'the failing check was not handed to a second attempt';
  if (drafted.contract.effective.constraints.security.networkPolicy !== 'deny')
    return 'the draft was given the network';
  return isModelVerified(part) ? undefined : "the model's commit does not verify";
}

/** Content of a sealed run, from its own statements. */
export interface Seal {
  /** Signed statements: file and predicate type. */
  readonly statements: readonly { readonly path: string; readonly type: string }[];
  /** Files that the manifest lists. */
  readonly listed: number;
  readonly levels: readonly string[];
  readonly approvals: readonly {
    readonly principal: string;
    readonly keyId: string;
    readonly inProcess: boolean;
  }[];
}

const maxPayloadBytes = 16 * 1024 * 1024;

/** Reads the seal of a run from its ref for display. Does not verify it. */
export async function readSeal(stores: Stores, repositoryPath: string, runId: string): Promise<Seal> {
  const { store } = await findRun(stores, await openRepository(repositoryPath), systemClock, runId);
  const ref = store.refs.run(runId);
  const listed = (await store.objects.list(ref)).map(({ path }) => path);
  const files = await store.objects.readMany(
    ref,
    listed.filter((path) => path.endsWith('.sigstore.json')),
  );
  const statements = [...files].map(([path, bytes]) => {
    const { predicateType, predicate } = parseJsonObject(
      parseBundle(bytes).envelope.payload,
      maxPayloadBytes,
    );
    return { path, type: expectText(predicateType, '/predicateType'), predicate };
  });
  const predicateAt = (wanted: string): JsonObject =>
    expectObject(statements.find(({ path }) => path === wanted)?.predicate ?? {}, '/predicate');
  const { approvals = [] } = predicateAt('statements/decision.sigstore.json');
  const { files: manifest = [] } = predicateAt('evidence-manifest.sigstore.json');
  const { verifiedLevels = [] } = predicateAt('statements/vsa.sigstore.json');
  return {
    statements: statements.map(({ path, type }) => ({ path, type })),
    listed: expectArray(manifest, '/predicate/files', 100_000).length,
    levels: expectArray(verifiedLevels, '/predicate/verifiedLevels', 100).map((level) =>
      expectText(level, '/predicate/verifiedLevels'),
    ),
    approvals: expectArray(approvals, '/predicate/approvals', 1000).map((approval) => {
      const { principal, keyId, inProcess } = expectObject(approval, '/predicate/approvals');
      return {
        principal: expectText(principal, '/principal'),
        keyId: expectText(keyId, '/keyId'),
        inProcess: inProcess === true,
      };
    }),
  };
}
