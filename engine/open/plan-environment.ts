/* Reads what planning needs, drafts the plan, and collects notices. */
import { type Issue, warning } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { listNames, listTree } from '../../workspace/git/tree.ts';
import type { WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { hintedFiles, type PlanEnvironment } from '../plan/decompose.ts';
import { coversSpec, type PlanQuestion, planTasks, toPlanFault } from '../plan/plan-tasks.ts';
import { scopeRootOf } from '../plan/scope.ts';
import {
  approversLacking,
  approversLackingCode,
  rightsLacking,
  rightsLackingCode,
} from '../state/approval-rights.ts';
import { checksWithoutUse, checkUnknownCode, logUnusedCode, logWithoutUse } from '../state/checks.ts';
import { foreignPolicyCode, foreignPolicyWords, type Landing } from '../state/policies.ts';
import type { RunPlugins } from './open-parties.ts';

/**
 * Reads the facts about the base tree that planning needs. Files and imports are read only if the spec decomposes the
 * work by file clusters.
 */
export async function readPlanEnvironment(
  objects: GitDirectory,
  tree: string,
  { intent, metadata, objmodel }: EffectiveIntentSpec,
): Promise<PlanEnvironment> {
  const root = scopeRootOf(metadata.target.repo);
  const rootNames = await listNames(objects, tree, root);
  const hints = intent.touchHints.files;
  if (objmodel.planGeneration.decompositionMode !== 'per-file-cluster' || hints.length === 0)
    return { rootNames };
  const { readImportGraph } = await import('../context/import-graph.ts');
  const entries = await listTree(objects, tree);
  const tracked = entries.map(({ path }) => path);
  const around = hintedFiles(hints, tracked, root);
  const { graph } = await readImportGraph({ objects, entries, around });
  return { rootNames, tracked, imports: graph };
}

/**
 * Returns the first Plan of a spec, after the plugins at `plan.draft`. Throws PLAN_DUPLICATE_OBJECTIVE and
 * PLAN_CONFLICT, and PLAN_INVALID if a plugin dropped an objective, a boundary or a gate.
 */
export async function draftPlan(
  { redraft }: Pick<RunPlugins, 'redraft'>,
  question: PlanQuestion,
): Promise<PlanDraft> {
  const planned = planTasks(question);
  if (!planned.ok) throw toPlanFault(planned.problems);
  const draft = await redraft(planned.draft);
  if (draft === planned.draft) return draft;
  const problems = coversSpec(draft, question.spec, question.for);
  if (problems.length > 0) throw toPlanFault(problems);
  return draft;
}

/** The parts of an opening that notices before work depend on. */
interface KnownParts {
  readonly admitted?: AdmittedContract;
  readonly contract?: AdmittedContract;
  readonly read?: { readonly config: WritConfig };
  readonly landing?: Landing;
  readonly signers?: Uint8Array | undefined;
  readonly worker?: Worker | undefined;
}

/** Returns the notices about spec and policy that do not refuse a run, as far as they are known in advance. Pure. */
export function noticesOf(known: KnownParts): readonly Issue[] {
  const { admitted, contract = admitted, read, landing } = known;
  const spec = contract?.effective;
  return [
    ...(landing?.foreign
      ? [
          warning(
            foreignPolicyCode,
            '/metadata/target/baseRef',
            foreignPolicyWords(landing.foreign, landing.policy, landing.target),
          ),
        ]
      : []),
    ...(spec && read
      ? checksWithoutUse(spec, read.config).map((words) =>
          warning(checkUnknownCode, '/acceptance/verificationPlan', words),
        )
      : []),
    ...(spec
      ? logWithoutUse(spec).map((words) => warning(logUnusedCode, '/provenance/transparencyLog/mode', words))
      : []),
    ...inVain(known),
  ];
}

/** Returns the notices that make all work of a run useless, to be reported before it begins. Pure. */
export function inVain(known: KnownParts): readonly Issue[] {
  const { admitted, contract = admitted, worker } = known;
  if (contract === undefined) return [];
  const spec = contract.effective;
  return [
    ...(Object.hasOwn(known, 'signers')
      ? approversLacking(spec, known.signers).map((words) =>
          warning(approversLackingCode, '/risk/humanInLoop', words),
        )
      : []),
    ...(worker?.usesModel === true
      ? rightsLacking(spec).map((words) => warning(rightsLackingCode, '/security/toolAcl/allow', words))
      : []),
  ];
}

/** The same in the words of a report, each behind its code. Pure. */
export function inVainWords(known: KnownParts): readonly string[] {
  return inVain(known).map(({ code, message }) => `${code}: ${message}`);
}
