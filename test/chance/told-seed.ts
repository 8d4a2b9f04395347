/**
 * The seed of what a test leaves to chance: `WRIT_TEST_SEED`, else the same one in every run. It is said in a comment
 * of the test.
 */
export function toldSeed(t: { readonly comment: (text: string) => void }): number {
  const seed = Number(process.env.WRIT_TEST_SEED ?? 20_261_121);
  t.comment(`seed ${seed} (WRIT_TEST_SEED)`);
  return seed;
}
