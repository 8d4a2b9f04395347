import { systemClock } from '../../../core/base/clock.ts';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { EvidencePolicy } from '../../../core/interfaces/privacy.ts';
import {
  createHooks,
  type Hooks,
  hooksFor,
  listHooks,
  type PluginHooks,
} from '../../../core/kernel/hooks.ts';
import { createSlots } from '../../../core/kernel/slot.ts';
import { evidencePlugin } from '../../../plugins/evidence/plugin.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { type Json, sampleSpec } from '../sample.ts';

/** The sample contract with `more` merged into it, defaults applied. */
export function contractWith(more: Json = {}): EffectiveIntentSpec {
  const read = readIntentSpec(sampleSpec(more));
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  return read.effective;
}

/** What a contract's strategy does, as the engine picks it. */
export function strategyOf({ evidence }: EffectiveIntentSpec): Promise<EvidencePolicy> {
  const slots = createSlots();
  evidencePlugin.setup({ slots } as never, undefined);
  return slots.evidence.pick(evidence.strategy);
}

/** The hook table with the taps of one plugin, `p`. */
export function hooksWith(tap: (hooks: PluginHooks) => void = () => {}): Hooks {
  const hooks = createHooks({ clock: systemClock, timeoutMs: 60_000, report: () => {} });
  tap(hooksFor(hooks, 'p'));
  for (const hook of listHooks(hooks)) hook.freeze();
  return hooks;
}
