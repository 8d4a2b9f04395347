import type { WritError } from '../../core/base/errors.ts';
import type { UsedTool } from '../../engine/record/event-objects.ts';
import type { AttemptCalls } from '../../engine/state/calls.ts';
import { type OpenRun, policyOf } from '../../engine/state/open-run.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { ToolEntryBound, ToolSetting } from './tool-entry.ts';

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
  readonly calls: AttemptCalls;
  /** Every use, in order of its end. */
  readonly used: readonly UsedTool[];
  /** The first fault of a tool itself: whatever its worker makes of it, the attempt has failed. */
  broken(): WritError | undefined;
}

export function openAttemptTools(run: OpenRun, task: string, calls: AttemptCalls): AttemptTools {
  const { engine, settings, signal } = run.services;
  const { person } = settings;
  const policy = policyOf(run);
  const used: UsedTool[] = [];
  let broken: WritError | undefined;
  return {
    engine,
    nowMs: () => settings.clock.now(),
    mask: (text) => redactTexts(text, policy),
    signal,
    task,
    calls,
    ...(person === undefined
      ? {}
      : { consent: (request, change) => person.consent(request, signal, change) }),
    used,
    keep: (use) => void used.push(use),
    broke: (fault) => {
      broken ??= fault;
    },
    broken: () => broken,
  };
}

/** The place of an attempt: its workspace, and a directory that only its commands write to. */
export interface ToolPlace {
  readonly workspace: string;
  readonly reports: string;
  /** Creates, on first use, the directory with the stubs that replace version control for commands. */
  readonly stubs: () => Promise<string>;
}
