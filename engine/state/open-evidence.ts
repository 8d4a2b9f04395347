import type { EvidencePolicy, EvidenceSource } from '../../core/interfaces/evidence.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { OutsideEvidence } from '../plugin-trust/parts/outside-evidence.ts';
import { type OpenRun, policyOf } from './open-run.ts';

/** What a run's sources are judged by: the strategy of its contract, and what the policy commit asks beside it. */
export interface RunEvidence extends EvidencePolicy {
  /** Throws where one of those that are asked beside it left something unsaid. */
  requireSound(): void;
}

/**
 * Opens it. Plugins of others are asked after the contract's own strategy, about what that lets in: each can refuse a
 * source, and say where it stands within its tier; none can let in, add, or rank above its tier.
 */
export async function openEvidence(run: OpenRun): Promise<RunEvidence> {
  const { ground, identity, means } = run;
  const { strategy } = identity.contract.effective.evidence;
  const own = await means.engine.slots.evidence.pick(strategy);
  const beside = ground.config.evidence.plugins.flatMap((name) => ground.plugins.evidence.get(name) ?? []);
  // Others hear from one that has hosts: a name or an address may hold what the contract keeps back.
  const shown = (source: EvidenceSource, { sendsOut }: OutsideEvidence): EvidenceSource =>
    sendsOut ? redactTexts(source, policyOf(run)) : source;
  return {
    rank: (trustTiers) => own.rank(trustTiers),
    async refuse(source) {
      const refused = await own.refuse(source);
      if (refused !== undefined) return refused;
      for (const one of beside) {
        const why = await one.refuse(shown(source, one), means.signal);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    async order(source) {
      let order = (await own.order?.(source)) ?? 0;
      for (const one of beside) order += await one.order(shown(source, one), means.signal);
      return order;
    },
    async refuseRetrieval(soFar) {
      const refused = await own.refuseRetrieval(soFar);
      if (refused !== undefined) return refused;
      for (const one of beside) {
        const why = await one.refuseRetrieval(soFar, means.signal);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    requireSound() {
      for (const one of beside) one.requireSound();
    },
  };
}
