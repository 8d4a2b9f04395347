/** Where the decision to wait stands in a run's record. */
export const waitingFolder = 'waiting';
