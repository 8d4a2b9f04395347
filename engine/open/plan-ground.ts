import { type Issue, warning } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type PlanDraft, toPlanFault } from '../../core/interfaces/plan.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { listNames, listTree } from '../../workspace/git/tree.ts';
import { coversSpec } from '../plan/covers-spec.ts';
import { hintedFiles, type PlanGround } from '../plan/decompose.ts';
import { type PlanQuestion, planTasks } from '../plan/plan-tasks.ts';
import { scopeRootOf } from '../plan/scope.ts';
import {
  approversLacking,
  approversLackingCode,
  rightsLacking,
  rightsLackingCode,
} from '../state/approval-rights.ts';
import { checksWithoutUse, checkUnknownCode, logUnusedCode, logWithoutUse } from '../state/checks.ts';
import { foreignPolicyCode, foreignPolicyWords } from '../state/policies.ts';
import type { AskedPlugins } from './open-parties.ts';
import type { Opening } from './opening.ts';

/**
 * What planning needs to know of the base tree; files and imports are read only where the contract cuts the work by
 * them.
 */
export async function readPlanGround(
  objects: GitDirectory,
  tree: string,
  { intent, metadata, objmodel }: EffectiveIntentSpec,
): Promise<PlanGround> {
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
 * The first Plan of a contract, as plugins at `plan.draft` leave it. Throws PLAN_DUPLICATE_OBJECTIVE, PLAN_CONFLICT,
 * and PLAN_INVALID where a plugin lost an objective, a boundary or a gate.
 */
export async function draftPlan(
  { redraft }: Pick<AskedPlugins, 'redraft'>,
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

/** What of an opening a run can be told of before any work. */
type Told = Partial<Pick<Opening, 'admitted' | 'contract' | 'config' | 'landing' | 'signers' | 'worker'>>;

/** What a run tells of its contract and its policy and refuses nothing for, as far as it is known before. Pure. */
export function noticesOf(known: Told): readonly Issue[] {
  const { admitted, contract = admitted, config, landing } = known;
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
    ...(spec && config
      ? checksWithoutUse(spec, config).map((words) =>
          warning(checkUnknownCode, '/acceptance/verificationPlan', words),
        )
      : []),
    ...(spec
      ? logWithoutUse(spec).map((words) => warning(logUnusedCode, '/provenance/transparencyLog/mode', words))
      : []),
    ...inVain(known),
  ];
}

/** Those of them by which all work of the run would be in vain: to be told before it begins. Pure. */
export function inVain(known: Told): readonly Issue[] {
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
export function inVainWords(known: Told): readonly string[] {
  return inVain(known).map(({ code, message }) => `${code}: ${message}`);
}
