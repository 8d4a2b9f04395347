/** Set for the rooms that `npm test` runs as a whole: long tests are left out. */
export const shortVariable = 'WRIT_TEST_SHORT';

/** A file to which each room appends what its tests cost: one JSON object for a test of a file. */
export const costsVariable = 'WRIT_TEST_COSTS';
