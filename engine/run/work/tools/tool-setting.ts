import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import type { DoorBound, ToolSetting } from './open-tools.ts';

/** Uses that one attempt may make: beyond, it goes round in circles. */
const maxUses = 5000;
export const usualBound: DoorBound = {
  most: maxUses,
  told: `an attempt may use its tools ${maxUses} times`,
};

/** The tools of an attempt are used with the time of its run, its signal, and its contract's privacy. */
export function toolSettingOf(run: OpenRun): ToolSetting {
  const { engine, settings, signal } = run.means;
  const policy = policyOf(run);
  return {
    engine,
    nowMs: () => settings.clock.now(),
    mask: (text) => redactTexts(text, policy),
    signal,
  };
}
