import type { OpenRun } from '../state/open-run.ts';

/** The cap of the contract in units of 0.001 USD, with what people added while the run waited for them; 0 is none. */
export async function costLimit({
  identity: { contract },
  means: { steps, moreCostUnits },
}: Pick<OpenRun, 'identity' | 'means'>): Promise<number> {
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
