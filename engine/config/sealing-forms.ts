import type { Slots } from '../../core/kernel/slot.ts';
import type { LogForms } from './log-section.ts';
import type { SignerForms } from './signer-section.ts';

/** How `[signer]` and `[log]` are read. */
export interface SealingForms {
  readonly signers: SignerForms;
  readonly logs: LogForms;
}

/** As every source in the slots of an engine understands its own keys of them. */
export async function sealingFormsOf({ signer, log }: Pick<Slots, 'signer' | 'log'>): Promise<SealingForms> {
  return { signers: await allOf(signer), logs: await allOf(log) };
}

async function allOf<T>(slot: { readonly names: readonly string[]; pick(name: string): Promise<T> }) {
  return new Map(await Promise.all(slot.names.map(async (name) => [name, await slot.pick(name)] as const)));
}
