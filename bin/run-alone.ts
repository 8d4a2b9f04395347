/** All of `writ run` in one file of the package, as `verify-alone.ts` is of `writ verify`. */
export { runCommand } from './commands/run.ts';
export { main } from './main.ts';
