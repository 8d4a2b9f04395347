import './judge-rule-in-thread.ts';

/** Nothing is left to do: the thread has started, and what it will be asked first is loaded. */
export function run(): void {}
