/** All of `writ spec validate` in one file of the package, as `verify-alone.ts` is of `writ verify`. */
export { run } from './commands/spec-validate.ts';
export { main } from './main.ts';
