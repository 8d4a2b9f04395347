import type { WritError } from '../../core/base/errors.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { CallJournal, ToolEntryBound, ToolSetting, UsedTool } from './tool-entry.ts';

/** Uses that one attempt may make: beyond, it goes round in circles. */
const maxUses = 5000;
export const usualBound: ToolEntryBound = {
  most: maxUses,
  told: `an attempt may use its tools ${maxUses} times`,
};

/** Shared by the tools of one attempt: the run's clock and signal, the spec's privacy policy, and one record. */
export interface AttemptTools extends ToolSetting {
  /** Key of the Task. */
  readonly task: string;
  readonly calls: CallJournal;
  /** What output of the run must not hold. */
  readonly policy: PrivacyPolicy;
  /** Every use, in order of its end. */
  readonly used: readonly UsedTool[];
  /** The first fault of a tool itself: whatever its worker makes of it, the attempt has failed. */
  broken(): WritError | undefined;
}

/** The place of an attempt: its workspace, and a directory that only its commands write to. */
export interface ToolPlace {
  readonly workspace: string;
  readonly reports: string;
  /** Creates, on first use, the directory with the stubs that replace version control for commands. */
  readonly stubs: () => Promise<string>;
}
