import type { Engine } from '../engine.ts';
import type { AskContext } from '../spec/contract-rows.ts';
import type { EffectiveIntentSpec } from '../spec/intentspec.gen.ts';

/** An engine over the rows of the IntentSpec contract. */
export type WritEngine = Engine<readonly [EffectiveIntentSpec, AskContext]>;
