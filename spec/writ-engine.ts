/* An engine with the rows of the IntentSpec as its ledger. */
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { Attesting } from '../core/interfaces/sealing.ts';
import type { Engine } from '../core/kernel/engine.ts';
import type { AskContext } from './contract-rows.ts';

/** An engine with the rows of the IntentSpec as its ledger, and with the attestor of its decisions. */
export type WritEngine = Engine<readonly [EffectiveIntentSpec, AskContext]> & Attesting;
