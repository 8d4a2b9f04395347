import type { Attesting } from '../../core/contract/attesting.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { createEngine, type Engine, type EngineOptions } from '../../core/kernel/engine.ts';
import { type AskContext, contractRows } from './contract-rows.ts';

type Asked = readonly [EffectiveIntentSpec, AskContext];

/** An engine over the rows of the IntentSpec contract, and who attests what it does. */
export type WritEngine = Engine<Asked> & Attesting;

export type WritEngineOptions = Omit<EngineOptions<Asked>, 'rows'> & Attesting;

/** Opens an engine; whoever opened it closes it. */
export async function createWritEngine({
  attestor,
  approvals,
  ...options
}: WritEngineOptions): Promise<WritEngine> {
  return { ...(await createEngine({ ...options, rows: contractRows })), attestor, approvals };
}
