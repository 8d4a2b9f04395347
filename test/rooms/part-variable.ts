/** Set where only the fixed part of what is long is to run: by `npm test` as a whole, for its rooms. */
export const partVariable = 'WRIT_TEST_FIXED_PART';
