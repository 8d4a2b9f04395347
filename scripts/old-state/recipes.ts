import { endedRecipes } from './ended-recipes.ts';
import { killedRecipes } from './killed-recipes.ts';
import { logRecipes } from './log-recipes.ts';
import { otherRecipes } from './other-recipes.ts';
import { pluginRecipes } from './plugin-recipes.ts';
import type { Recipe } from './recipe.ts';
import { sessionRecipes } from './session-recipes.ts';
import { signerRecipes } from './signer-recipes.ts';
import { waitingRecipes } from './waiting-recipes.ts';
import { workRecipes } from './work-recipes.ts';

/** Every state, by name. */
export const recipes: Readonly<Record<string, Recipe>> = {
  ...signerRecipes,
  ...logRecipes,
  ...waitingRecipes,
  ...endedRecipes,
  ...killedRecipes,
  ...pluginRecipes,
  ...workRecipes,
  ...sessionRecipes,
  ...otherRecipes,
};
