/** All of `writ run`, `seal` and `resume` in one file of the package, as `verify-alone.ts` is of `writ verify`. */
export { resumeCommand } from './commands/resume.ts';
export { runCommand } from './commands/run.ts';
export { sealCommand } from './commands/seal.ts';
export { main } from './main.ts';
