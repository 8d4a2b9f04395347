/* The public entry point for plugin authors. */
export type { Clock } from './core/base/clock.ts';
export type { WritErrorOptions } from './core/base/errors.ts';
export { WritError } from './core/base/errors.ts';
export type { HttpQuestion, HttpStreamer, OpenAnswer, StreamQuestion } from './core/base/http-question.ts';
export type { HttpAnswer, HttpClient as HttpAsker } from './core/base/net.ts';
export type {
  ApprovalGround,
  ApprovalProblem,
  ApprovalReader,
  ApprovalSubject,
  ApprovalVerdict,
  ReceivedApproval,
} from './core/interfaces/approval.ts';
export type { ArtifactProducer, ArtifactRequest, Produced } from './core/interfaces/artifact.ts';
export type {
  ArtifactFacts,
  ChangeFacts,
  CheckContext,
  CheckFacts,
  CheckOutcome,
  CheckRunner,
  ReportFile,
  StageCheck,
  StageCheckInput,
  StandingFinding,
} from './core/interfaces/check.ts';
export type { Finding, Issue, Refusal, Severity } from './core/interfaces/finding.ts';
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
} from './core/interfaces/hook-payload.ts';
export type { EffectiveCheck, EffectiveIntentSpec } from './core/interfaces/intentspec.gen.ts';
export type {
  AssistantMessage,
  FailureKind,
  ModelEvent,
  ModelImage,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  ReplayState,
  ReplyEnd,
  ToolCall,
  ToolDeclaration,
  ToolResult,
} from './core/interfaces/model.ts';
export type { ChangeType, PatchFile, PatchSet, Scope } from './core/interfaces/patch-set.ts';
export type { PlanDraft, PlannedTask, PlanRevision, ReplanTrigger } from './core/interfaces/plan.ts';
export type {
  ContextItemKind,
  EvidencePolicy,
  EvidenceSource,
  FrameKind,
  RetrievalSoFar,
  TrustTier,
} from './core/interfaces/privacy.ts';
export type {
  Provider,
  ProviderFailure,
  ProviderFlag,
  ProviderSetting,
  ProviderSource,
} from './core/interfaces/provider.ts';
export { providerFailure } from './core/interfaces/provider.ts';
export type {
  DescribedRule,
  FileSides,
  PolicyEngine,
  PolicyText,
  Rule,
  RuleFunction,
  RuleInput,
  RuleInScan,
  RulePoint,
  RuleText,
} from './core/interfaces/rule.ts';
export type {
  CapturedOutput,
  ExceededLimit,
  SandboxBackend,
  SandboxBind,
  SandboxEgress,
  SandboxRequest,
  SandboxResult,
} from './core/interfaces/sandbox.ts';
export type {
  AppendOptions,
  Attestation,
  Attestor,
  AttestRequest,
  ConfigSection,
  DigestedThing,
  InclusionPromise,
  LogForm,
  LogProof,
  LogSource,
  SealingPlace,
  Signer,
  SignerForm,
  SignerKey,
  SignerSetting,
  SignerSource,
  TransparencyLog,
} from './core/interfaces/sealing.ts';
export type {
  ArtifactRecord,
  CheckKind,
  CheckRecord,
  StageName,
  StageRecord,
  TestCounts,
} from './core/interfaces/stage.ts';
export type { ObjectStore, StoreEntry, WriteTree } from './core/interfaces/store.ts';
export type { StoreBeside, StorePlace, StoreSource } from './core/interfaces/store-source.ts';
export type {
  CodeAction,
  CodeDoor,
  CodeUse,
  DraftEnd,
  DraftOrder,
  HandAnswer,
  Hands,
  HandUse,
  ModelChoice,
  TaskOrder,
  Turn,
  TurnQuestion,
  Turns,
  WorkCitation,
  Worker,
  WorkerSource,
  WorkResult,
  WorkUsage,
} from './core/interfaces/worker.ts';
export type { TapOptions } from './core/kernel/hook.ts';
export type { PluginHooks } from './core/kernel/hooks.ts';
export type {
  Capabilities,
  LoadedPlugin,
  OwnFiles,
  Plugin,
  PluginSetup,
  Secrets,
} from './core/kernel/plugin.ts';
export { definePlugin } from './core/kernel/plugin.ts';
export type { PluginSlots, SlotDoor } from './core/kernel/slot.ts';
export type { Task, TaskOutcome } from './core/kernel/worker/task.ts';
export { defineTask } from './core/kernel/worker/task.ts';
export type {
  ArtifactModule,
  ArtifactOrder,
  EvidenceModule,
  LogModule,
  PluginContext,
  ProviderModule,
  StageCheckFinding,
  StageCheckModule,
} from './plugins/third-party/plugin-module.ts';
