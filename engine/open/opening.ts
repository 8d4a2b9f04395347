import { WritError } from '../../core/base/errors.ts';
import { type Issue, warning } from '../../core/interfaces/finding.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { Scope } from '../../core/interfaces/scope.ts';
import type { SealingParties } from '../../core/interfaces/sealing.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { builtInLedger } from '../../spec/built-in-ledger.ts';
import { requireSupportedVersion } from '../../spec/checks-of.ts';
import { contractRows } from '../../spec/contract-rows.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { Authorship } from '../../store/record/gate-report.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { PickedRuntimes } from '../../workspace/runtime/pick-runtimes.ts';
import type { WritConfig } from '../config/config.ts';
import { compileMetricsSchema } from '../context/run-metrics.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { IntentRunStore } from '../intent/find-intent.ts';
import { requireNotEnded } from '../intent/require-active.ts';
import { type PlanFor, requireDistinctObjectives } from '../plan/plan-tasks.ts';
import { logUnusedCode, logWithoutUse } from '../state/checks.ts';
import type { CommitWording, LocalDecision } from '../state/commit-wording.ts';
import type { Landing } from '../state/landing.ts';
import type { OpenModel } from '../state/open-model.ts';
import type { RunEnvironment } from '../state/open-run.ts';
import type { ChangeSource, Origin, RunRequest } from '../state/run-request.ts';
import type { RunSecrets } from '../state/run-secrets.ts';
import type { RunPlugins } from './open-parties.ts';

/** The request, whether it is to be run or only planned. */
export type OpeningRequest = Pick<
  RunRequest,
  | 'repositoryPath'
  | 'specBytes'
  | 'onto'
  | 'heldFor'
  | 'policy'
  | 'noMerge'
  | 'localChanges'
  | 'askLocalChanges'
  | 'advice'
  | 'message'
  | 'author'
  | 'sandbox'
  | 'pluginAccess'
  | 'outside'
  | 'clock'
  | 'reach'
  | 'model'
  | 'secrets'
>;

/** Where a run that is opened puts what it needs before it begins. */
export interface OpeningPlace {
  /** Wraps the repository for the caller's reads. */
  keep(repository: Repository): Repository;
  /** Creates the place for the candidate; called at most once. */
  makeScratch(repository: Repository): Promise<Scratch>;
  /** Where files of plugins are kept. */
  pluginCache(repository: Repository): string;
  /** Creates no user files: a missing signing key is treated as one that would be created. */
  readonly dry: boolean;
  /** Reads only objects and refs of the repository. */
  readonly onlyReads?: true;
}

/** All data known about a run before any work: first the request, then the result of each preflight check. */
export interface Opening {
  readonly engine: WritEngine;
  /** The parts of the engine that checks of spec and repository need. */
  readonly plugins: RunPlugins;
  readonly request: OpeningRequest;
  readonly ledger: WritEngine['ledger'];
  readonly place: OpeningPlace;
  readonly runId: string;
  /** Of the change; absent where it is not known yet. */
  readonly source: ChangeSource;
  /** What kind of change is meant, also where it is not known yet. */
  readonly kind: ChangeSource['kind'];
  readonly who: PlanFor;

  readonly worker: Worker | undefined;
  /** What checks are given, and what is never written. */
  readonly secrets: RunSecrets;
  /** The model that the worker names. */
  readonly model: OpenModel | undefined;
  readonly admitted: AdmittedContract;
  readonly repository: Repository;
  readonly store: IntentRunStore;
  readonly origin: Origin;
  readonly landing: Landing;
  readonly configBytes: Uint8Array | undefined;
  readonly config: WritConfig;
  /** `.writ/allowed_signers` at the policy commit; `undefined` where it has none. */
  readonly signers: Uint8Array | undefined;
  /** With the checks that the policy commit adds. */
  readonly contract: AdmittedContract;
  readonly scope: Scope;
  readonly draft: PlanDraft;
  readonly sandbox: Pick<RunEnvironment, 'sandbox' | 'passedOver'>;
  readonly operatingSystem: Readonly<Record<string, string>>;
  readonly runtimes: PickedRuntimes;
  /** The configuration once more, held to the rules that there are, and these. */
  readonly judges: Pick<
    RunEnvironment,
    'config' | 'rules' | 'policies' | 'scanners' | 'plugins' | 'dependencies'
  >;
  readonly environment: RunEnvironment;
  /** Key and log; `undefined` if the spec requires no provenance. */
  readonly sealing: SealingParties | undefined;
  readonly wording: CommitWording;
  readonly scratch: Scratch;
  /** The candidate of a supplied change; `undefined` where a worker will make it. */
  readonly supplied: PatchSet | undefined;
  /** What happens to local changes in the way; `undefined`: there are none. */
  readonly local: LocalDecision | undefined;
  readonly authorship: Authorship;
}

/**
 * The data that a preflight check needs: only the spec; the repository and its policy; this machine, its user's keys
 * and trust; or the change.
 */
type Sight = 'contract' | 'repository' | 'machine' | 'change';

type Part = keyof Opening;

/**
 * One preflight check, which can refuse a run before any work: `writ run` stops at the first failure, and `writ plan`
 * reports them all.
 */
export interface OpeningCheck {
  readonly id: string;
  readonly sees: Sight;
  /** JSON Pointer to the part of the spec that it checks; '' for the whole spec, or for data outside it. */
  readonly about: string;
  /** Results of earlier preflight checks that it needs. If one is missing, it is skipped. */
  readonly needs: readonly Part[];
  /** Throws a catalogued refusal, or answers what it found. */
  judge(known: Partial<Opening>): Promise<Partial<Opening>>;
}

/** Builds a preflight check: its function receives the results that it needs, and may read other known results. */
export function openingCheck<const N extends Part, G extends Part = never>(given: {
  readonly id: string;
  readonly sees: Sight;
  readonly about?: string;
  readonly needs: readonly N[];
  // biome-ignore lint/suspicious/noConfusingVoidType: a judgement that only refuses answers nothing.
  judge(known: Pick<Opening, N> & Partial<Opening>): Promise<Pick<Opening, G> | void>;
}): OpeningCheck {
  // `checkOpening` calls only checks with every name in `needs` present.
  return { about: '', ...given, judge: async (known) => (await given.judge(known as Opening)) ?? {} };
}

/** Called with a refusal; checks that do not need the missing result still run. */
type HearRefusal = (refused: OpeningCheck, fault: WritError) => void;

/**
 * Runs the preflight checks in order; each sees the earlier results. Throws the first refusal. With `hear` it reports
 * every refusal instead, but still throws errors that are not refusals (INTERNAL, RUN_INTERRUPTED).
 */
export async function checkOpening(
  judgements: readonly OpeningCheck[],
  known: Partial<Opening>,
  hear?: HearRefusal,
): Promise<Partial<Opening>> {
  let all = known;
  for (const one of judgements) {
    if (!one.needs.every((part) => Object.hasOwn(all, part))) continue;
    try {
      all = { ...all, ...(await one.judge(all)) };
    } catch (fault) {
      if (!hear || !(fault instanceof WritError) || [70, 130].includes(fault.exitCode)) throw fault;
      hear(one, fault);
    }
  }
  return all;
}

/** Preflight checks that need only a parsed spec. They are cheap: `spec validate` runs them without a repository. */
export const specChecks: readonly OpeningCheck[] = [
  openingCheck({
    id: 'version-supported',
    sees: 'contract',
    about: '/apiVersion',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireSupportedVersion(admitted.document.apiVersion),
  }),
  openingCheck({
    id: 'rows-enforced',
    sees: 'contract',
    needs: ['ledger', 'admitted'],
    judge: async ({ ledger, admitted, worker }) =>
      ledger.check(admitted.effective, { model: worker?.usesModel === true }),
  }),
  openingCheck({
    id: 'not-ended',
    sees: 'contract',
    about: '/lifecycle/status',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireNotEnded(admitted.document),
  }),
  openingCheck({
    id: 'metrics-readable',
    sees: 'contract',
    about: '/objmodel/runPolicy/metricsSchema',
    needs: ['admitted'],
    judge: async ({ admitted }) => {
      await compileMetricsSchema(admitted.effective.objmodel.runPolicy.metricsSchema);
    },
  }),
  openingCheck({
    id: 'objectives-differ',
    sees: 'contract',
    about: '/intent/objectives',
    needs: ['admitted'],
    judge: async ({ admitted }) => requireDistinctObjectives(admitted.effective.intent.objectives),
  }),
];

/** Returns warnings about any run of a spec with the built-in plugins, without reading a repository. */
export async function contractIssues(admitted: AdmittedContract): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  await checkOpening(specChecks, { ledger: builtInLedger(), admitted }, (judgement, fault) =>
    refused.push(...refusalIssues(judgement, fault)),
  );
  return [
    ...refused,
    ...logWithoutUse(admitted.effective).map((words) =>
      warning(logUnusedCode, '/provenance/transparencyLog/mode', words),
    ),
  ];
}

/**
 * Converts a run's refusal to warnings for a user who validates the spec, because the document itself may be valid.
 * One warning for each unenforced row, and for each issue that the refusal names.
 */
export function refusalIssues(
  { about }: OpeningCheck,
  { code, message, detail }: WritError,
): readonly Issue[] {
  const words = (what: string): string => `${what}; a run is refused`;
  if (code === 'SPEC_UNENFORCED') {
    const rows = new Set(detail.rows as readonly string[]);
    return contractRows
      .filter(({ id }) => rows.has(id))
      .map(({ id, path, rule }) =>
        warning(code, path.replace(/\/\*.*$/, ''), words(`nothing loaded here enforces \`${id}\` (${rule})`)),
      );
  }
  if (code === 'INTENTSPEC_INVALID')
    return (detail.issues as readonly Issue[]).map((issue) =>
      warning(issue.code, issue.path, words(issue.message)),
    );
  return [warning(code, about, words(message))];
}
