import { type Recipe, runSample, sealedClaims } from './recipe.ts';

/** Sealed runs, one for each kind of key. */
export const signerRecipes: Readonly<Record<string, Recipe>> = {
  'sealed-own-key': {
    about: "a run sealed with the user's own key (ECDSA P-256) and logged in the internal ledger",
    sample: 3,
    async make(place) {
      const run = await runSample(place);
      return sealedClaims(run);
    },
  },
};
