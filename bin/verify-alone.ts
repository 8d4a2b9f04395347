/**
 * All of `writ verify` in one file of the package: loading two files, and the parts that they share with other
 * commands, takes a tenth of what verifying takes. The launcher starts it where `verify` is the first word; elsewhere
 * the command is taken out of it.
 */
export { run } from './commands/verify.ts';
export { main } from './main.ts';
