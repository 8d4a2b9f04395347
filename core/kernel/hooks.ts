/* The table of all hooks. */
import type { Finding, Issue } from '../interfaces/finding.ts';
import type {
  ArtifactBytes,
  AttemptToSense,
  AttestSettled,
  ContextEntry,
  DecisionMade,
  DecisionToGuard,
  EngineFacts,
  PatchToJudge,
  PlanToReview,
  SpecToCheck,
  StageSettled,
  StageToJudge,
  StatementToFill,
  ToolRequest,
  ToolSettled,
} from '../interfaces/hook-payload.ts';
import type { PlanDraft, ReplanTrigger } from '../interfaces/plan.ts';
import type { DigestedThing } from '../interfaces/sealing.ts';
import {
  parseArtifactBytes,
  parseContextEntry,
  parseDigestedThings,
  parseFindings,
  parseIssues,
  parsePlanDraft,
  parseReplanTriggers,
} from './answer.ts';
import { collect, guard, type Hook, type HookSetting, observe, type TapOptions, transform } from './hook.ts';

/**
 * Every hook point, in the order of a run. The IntentSpec is never transformed: its digest is bound into provenance.
 */
export function createHooks(setting: HookSetting) {
  return Object.freeze({
    engine: Object.freeze({
      opened: observe<EngineFacts>('engine.opened', setting),
      closed: observe<EngineFacts>('engine.closed', setting),
    }),
    spec: Object.freeze({
      check: collect<SpecToCheck, Issue>('spec.check', setting, parseIssues),
    }),
    plan: Object.freeze({
      /** Every change of a draft is validated: it may not remove an objective, boundary or gate of the spec. */
      draft: transform<PlanDraft>('plan.draft', setting, parsePlanDraft),
      review: observe<PlanToReview>('plan.review', setting),
    }),
    frame: Object.freeze({
      admit: guard<ContextEntry>('frame.admit', setting),
      tag: transform<ContextEntry>('frame.tag', setting, parseContextEntry),
      redact: transform<ContextEntry>('frame.redact', setting, parseContextEntry),
    }),
    tool: Object.freeze({
      guard: guard<ToolRequest>('tool.guard', setting),
      started: observe<ToolRequest>('tool.started', setting),
      settled: observe<ToolSettled>('tool.settled', setting),
    }),
    patch: Object.freeze({
      judge: collect<PatchToJudge, Finding>('patch.judge', setting, parseFindings),
    }),
    artifact: Object.freeze({
      redact: transform<ArtifactBytes>('artifact.redact', setting, parseArtifactBytes),
    }),
    stage: Object.freeze({
      judge: collect<StageToJudge, Finding>('stage.judge', setting, parseFindings),
      settled: observe<StageSettled>('stage.settled', setting),
    }),
    replan: Object.freeze({
      /** Only triggers in the spec's `execution.replan.triggers` have an effect. */
      sense: collect<AttemptToSense, ReplanTrigger>('replan.sense', setting, parseReplanTriggers),
    }),
    decision: Object.freeze({
      guard: guard<DecisionToGuard>('decision.guard', setting),
      made: observe<DecisionMade>('decision.made', setting),
    }),
    statement: Object.freeze({
      /** Further `resolvedDependencies` of the provenance. */
      fill: collect<StatementToFill, DigestedThing>('statement.fill', setting, parseDigestedThings),
    }),
    attest: Object.freeze({
      settled: observe<AttestSettled>('attest.settled', setting),
    }),
  });
}

export type Hooks = ReturnType<typeof createHooks>;

/**
 * The hooks as one plugin sees them: `hooks.tool.guard.tap(fn, options)` registers under the plugin's name. A plugin
 * cannot call a hook. Nothing in writ listens to these, so they are deprecated, and still work: `engine.opened` (use
 * `setup`), `spec.check`, `patch.judge`, `stage.judge`, `decision.guard` (a rule), `plan.draft`
 * (`objmodel.planGeneration`), `frame.tag` (`frame.redact`), `tool.guard` (`security.toolAcl`), `statement.fill` (a
 * listed plugin), `attest.settled` (`decision.made`).
 */
export type PluginHooks = {
  readonly [Family in keyof Hooks]: {
    readonly [Point in keyof Hooks[Family]]: Hooks[Family][Point] extends Hook<infer Tap, infer _Call>
      ? { tap(tap: Tap, options?: TapOptions): void }
      : never;
  };
};

type AnyHook = Pick<Hook<never, unknown>, 'name' | 'kind' | 'freeze' | 'order' | 'tap'>;

export function listHooks(hooks: Hooks): readonly AnyHook[] {
  return Object.values(hooks).flatMap((family): AnyHook[] => Object.values(family));
}

/** The hooks with every `tap` bound to `plugin`. */
export function hooksFor(hooks: Hooks, plugin: string): PluginHooks {
  const bound = Object.entries(hooks).map(([family, points]) => [
    family,
    Object.fromEntries(
      Object.entries(points as Record<string, AnyHook>).map(([point, hook]) => [
        point,
        { tap: (tap: never, options?: TapOptions) => hook.tap(plugin, tap, options) },
      ]),
    ),
  ]);
  return Object.fromEntries(bound) as PluginHooks;
}
