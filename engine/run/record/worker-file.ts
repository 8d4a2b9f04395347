/** In a run's directory: what its worker is made again from. */
export const workerFile = 'worker.json';
