import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { Attesting } from '../core/interfaces/sealing.ts';
import type { Engine } from '../core/kernel/engine.ts';
import type { AskContext } from './contract-rows.ts';

/** An engine over the rows of the IntentSpec contract, and who attests what it does. */
export type WritEngine = Engine<readonly [EffectiveIntentSpec, AskContext]> & Attesting;
