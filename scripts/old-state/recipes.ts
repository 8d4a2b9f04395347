import type { Recipe } from './recipe.ts';
import { signerRecipes } from './signer-recipes.ts';
import { waitingRecipes } from './waiting-recipes.ts';

/** Every state, by name. */
export const recipes: Readonly<Record<string, Recipe>> = { ...signerRecipes, ...waitingRecipes };
