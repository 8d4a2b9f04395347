import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { Engine } from '../../core/kernel/engine.ts';
import type { AskContext } from './contract-rows.ts';

/** An engine over the rows of the IntentSpec contract. */
export type WritEngine = Engine<readonly [EffectiveIntentSpec, AskContext]>;
