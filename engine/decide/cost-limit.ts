import type { OpenRun } from '../state/open-run.ts';

/**
 * Returns the cap of the spec in units of 0.001 USD, plus the amount that people added while the run waited. 0 sets
 * no cap.
 */
export async function costLimit({
  identity: { contract },
  services: { steps, moreCostUnits },
}: Pick<OpenRun, 'identity' | 'services'>): Promise<number> {
  const { maxCostUnits } = contract.effective.constraints.resources;
  if (maxCostUnits === 0) return 0;
  let limit = maxCostUnits;
  for (let grant = 1; ; grant += 1) {
    const known = steps.ended(`more-cost/${grant}`);
    if (!known) {
      if (moreCostUnits === undefined) return limit;
      return limit + (await steps.once(`more-cost/${grant}`, () => moreCostUnits));
    }
    limit += known.answer as number;
  }
}
