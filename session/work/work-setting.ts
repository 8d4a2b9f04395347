import type { VerifyContext } from '../../api/verify/verify-targets.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { DraftPlace } from '../../engine/draft/draft-request.ts';
import type { ModelMeter } from '../../engine/state/open-model.ts';
import type { ChangeSource, RunSettings } from '../../engine/state/run-request.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { SelfTester } from '../self-test/self-tester.ts';
import type { SessionSettings } from '../state/settings/session-settings.ts';
import type { ApprovalSetting } from './approval-setting.ts';

/** What the turns of a session work with. */
export interface WorkSetting extends ChosenModel, Pick<SessionSettings, 'networkAccess'> {
  /** Opened with the plugin of `watchRuns`. */
  readonly engine: WritEngine;
  readonly repositoryPath: string;
  /** Who asks for what place, as it is now: a branch may be switched while a session lasts. */
  readonly target: () => Promise<DraftPlace['target']>;
  /** Back end by name, or `auto`. */
  readonly sandbox: string;
  /** Who answers what is dispatched to an agent, and how; AGENT_UNKNOWN. Absent: nobody else is there. */
  readonly agentOf?: (name: string) => ChosenModel;
  /** Where the user's own trust anchors are found. */
  readonly env: VerifyContext['env'];
  readonly clock: Clock;
  /** What every run of the session is asked with. */
  readonly run: Omit<RunSettings, 'clock' | 'signal' | 'person' | 'watch' | 'meter' | 'model' | 'approvers'>;
  readonly approval: ApprovalSetting;
  /** A confirmed contract is executed as it was planned, and nobody is asked about the plan (`--plan-mode=false`). */
  readonly executesUnasked?: boolean;
  /** From now on the mask of the session takes this value out of everything that is told or kept. */
  readonly hide?: (value: string) => void;
  /** Whether a command could approve itself; asked before a run gets a network. */
  readonly selfTest: Pick<SelfTester, 'result'>;
}

/** Who answers, and what it is told before anything else. */
export interface ChosenModel {
  readonly source: Extract<ChangeSource, { readonly kind: 'worker' }>;
  /** Instructions for conversations, what stays the same first. */
  readonly instructions: readonly string[];
}

/** What is settled when a session opens; the rest of it goes by the settings of the session, as they are then. */
export interface OpenWorkSetting extends Omit<WorkSetting, keyof ChosenModel | 'networkAccess'> {
  readonly modelFor: (settings: SessionSettings) => ChosenModel;
  /** Told what each question to a model is called, for the log. */
  readonly named?: ModelMeter['named'];
}

/** What a step works with that begins now. */
export function workSettingFor(
  { modelFor, named: _, ...setting }: OpenWorkSetting,
  settings: SessionSettings,
): WorkSetting {
  return { ...setting, ...modelFor(settings), networkAccess: settings.networkAccess };
}
