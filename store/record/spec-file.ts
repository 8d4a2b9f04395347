/** In a run's directory: the contract that it was started with, as its author gave it. */
export const specFile = 'spec.json';
