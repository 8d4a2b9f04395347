import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { Attesting } from '../../core/contract/sealing.ts';
import type { Engine } from '../../core/kernel/engine.ts';
import type { AskContext } from './contract-rows.ts';

/** An engine over the rows of the IntentSpec contract, and who attests what it does. */
export type WritEngine = Engine<readonly [EffectiveIntentSpec, AskContext]> & Attesting;
