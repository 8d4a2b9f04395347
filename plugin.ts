export type { Clock } from './core/base/clock.ts';
export type { WritErrorOptions } from './core/base/errors.ts';
export { WritError } from './core/base/errors.ts';
export type { HttpQuestion, HttpStreamer, OpenAnswer, StreamQuestion } from './core/base/http-question.ts';
export type { HttpAnswer, HttpAsker } from './core/base/net.ts';
export type {
  ApprovalGround,
  ApprovalProblem,
  ApprovalReader,
  ApprovalSubject,
  ApprovalVerdict,
  ReceivedApproval,
} from './core/contract/approval.ts';
export type { ArtifactProducer, ArtifactRequest, Produced } from './core/contract/artifact-producer.ts';
export type { Attestation, Attestor, AttestRequest, DigestedThing } from './core/contract/attestor.ts';
export type { CheckContext, CheckOutcome, CheckRunner, ReportFile } from './core/contract/check-runner.ts';
export type { CodeAction, CodeDoor, CodeUse } from './core/contract/code-use.ts';
export type { ConfigSection } from './core/contract/config-section.ts';
export type { ContextItemKind, FrameKind, TrustTier } from './core/contract/context.ts';
export type { DraftEnd, DraftOrder } from './core/contract/draft-order.ts';
export type { EvidencePolicy, EvidenceSource, RetrievalSoFar } from './core/contract/evidence-policy.ts';
export type { Finding, Severity } from './core/contract/finding.ts';
export type { HandAnswer, Hands, HandUse } from './core/contract/hands.ts';
export type {
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
} from './core/contract/hook-payload.ts';
export type { EffectiveCheck, EffectiveIntentSpec } from './core/contract/intentspec.gen.ts';
export type { Issue } from './core/contract/issue.ts';
export type {
  AssistantMessage,
  FailureKind,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  ReplayState,
  ReplyEnd,
  ToolCall,
  ToolDeclaration,
  ToolResult,
} from './core/contract/model.ts';
export type { ObjectStore, StoreEntry, WriteTree } from './core/contract/object-store.ts';
export type { ChangeType, PatchFile, PatchSet } from './core/contract/patch-set.ts';
export type { PlanDraft, PlannedTask, PlanRevision } from './core/contract/plan-draft.ts';
export type { PolicyEngine } from './core/contract/policy-engine.ts';
export type {
  Provider,
  ProviderFailure,
  ProviderFlag,
  ProviderSetting,
  ProviderSource,
} from './core/contract/provider.ts';
export { providerFailure } from './core/contract/provider.ts';
export type { Refusal } from './core/contract/refusal.ts';
export type { ReplanTrigger } from './core/contract/replan-trigger.ts';
export type {
  DescribedRule,
  FileSides,
  PolicyText,
  Rule,
  RuleFunction,
  RuleInput,
  RuleInScan,
  RulePoint,
  RuleText,
} from './core/contract/rule.ts';
export type {
  CapturedOutput,
  ExceededLimit,
  SandboxBackend,
  SandboxBind,
  SandboxEgress,
  SandboxRequest,
  SandboxResult,
} from './core/contract/sandbox.ts';
export type { Scope } from './core/contract/scope.ts';
export type { SignerKey } from './core/contract/sealing-config.ts';
export type { SealingPlace } from './core/contract/sealing-place.ts';
export type { Signer, SignerForm, SignerSetting, SignerSource } from './core/contract/signer.ts';
export type {
  ArtifactRecord,
  CheckKind,
  CheckRecord,
  StageName,
  StageRecord,
  TestCounts,
} from './core/contract/stage.ts';
export type {
  ArtifactFacts,
  ChangeFacts,
  CheckFacts,
  StageCheck,
  StageCheckInput,
  StandingFinding,
} from './core/contract/stage-check.ts';
export type { StoreBeside, StorePlace, StoreSource } from './core/contract/store-source.ts';
export type {
  AppendOptions,
  InclusionPromise,
  LogForm,
  LogProof,
  LogSource,
  TransparencyLog,
} from './core/contract/transparency-log.ts';
export type { ModelChoice, Turn, TurnQuestion, Turns } from './core/contract/turns.ts';
export type {
  TaskOrder,
  WorkCitation,
  Worker,
  WorkerSource,
  WorkResult,
  WorkUsage,
} from './core/contract/worker.ts';
export type { Capabilities, OwnFiles, Secrets } from './core/kernel/capabilities.ts';
export type { PluginHooks } from './core/kernel/hooks.ts';
export type { LoadedPlugin, Plugin, PluginSetup } from './core/kernel/plugin.ts';
export { definePlugin } from './core/kernel/plugin.ts';
export type { PluginSlots, SlotDoor } from './core/kernel/slot.ts';
export type { TapOptions } from './core/kernel/tap.ts';
export type { Task } from './core/kernel/worker/task.ts';
export { defineTask } from './core/kernel/worker/task.ts';
export type { TaskOutcome } from './core/kernel/worker/task-outcome.ts';
export type {
  ArtifactModule,
  ArtifactOrder,
  EvidenceModule,
  LogModule,
  PluginContext,
  ProviderModule,
  StageCheckFinding,
  StageCheckModule,
} from './engine/plugin-trust/plugin-module.ts';
