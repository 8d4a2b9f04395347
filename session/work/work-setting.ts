import type { Clock } from '../../core/base/clock.ts';
import type { DraftPlace } from '../../engine/run/draft/draft-ground.ts';
import type { ChangeSource, RunSettings } from '../../engine/run/state/run-request.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import type { SelfTester } from '../self-test/self-tester.ts';
import type { ApprovalSetting } from './approval-setting.ts';

/** What the turns of a session work with; all of it is settled when the session opens. */
export interface WorkSetting {
  /** Opened with the plugin of `watchRuns`. */
  readonly engine: WritEngine;
  readonly repositoryPath: string;
  readonly source: Extract<ChangeSource, { readonly kind: 'worker' }>;
  /** Who asks for what place, as it is now: a branch may be switched while a session lasts. */
  readonly target: () => Promise<DraftPlace['target']>;
  /** Back end by name, or `auto`. */
  readonly sandbox: string;
  /** Network policy that a plan is proposed with. */
  readonly networkAccess: 'allow' | 'deny';
  /** Who answers what is dispatched to an agent, and how; AGENT_UNKNOWN. Absent: nobody else is there. */
  readonly agentOf?: (name: string) => Pick<WorkSetting, 'instructions' | 'source'>;
  /** Instructions for conversations, what stays the same first. */
  readonly instructions: readonly string[];
  readonly clock: Clock;
  /** What every run of the session is asked with. */
  readonly run: Omit<RunSettings, 'clock' | 'signal' | 'person' | 'watch' | 'meter' | 'model' | 'approvers'>;
  readonly approval: ApprovalSetting;
  /** Whether a command could approve itself; asked before a run gets a network. */
  readonly selfTest: Pick<SelfTester, 'result'>;
}
