/* The public entry point for programs that embed writ. */
export type {
  EmbeddedEngine,
  GivenSpec,
  ResumeCall,
  RunCall,
  RunPlace,
  VerifyCall,
} from './api/embed/embedded-engine.ts';
export type { RunEvent } from './api/run/run-events.ts';
export type { RunData } from './api/schemas/run-schema.ts';
export type { VerificationData } from './api/schemas/verification-schema.ts';
export type { Clock } from './core/base/clock.ts';
export type { ErrorCode, ErrorEntry } from './core/base/error-codes.ts';
export { errorCatalogue } from './core/base/error-codes.ts';
export type { ErrorDetail, WritErrorOptions } from './core/base/errors.ts';
export { isWritError, WritError } from './core/base/errors.ts';
export type { ApprovalSubject, InProcessApprover } from './core/interfaces/approval.ts';
export type { EffectiveIntentSpec, IntentSpec } from './core/interfaces/intentspec.gen.ts';
export type { TaskOrder, Worker, WorkResult, WorkUsage } from './core/interfaces/worker.ts';
export type { LoadedPlugin } from './core/kernel/plugin.ts';
export type { ChangeSource } from './engine/state/run-request.ts';
export type { EngineOptions } from './plugins/preset/create-engine.ts';
export { createEngine } from './plugins/preset/create-engine.ts';
