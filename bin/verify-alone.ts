/**
 * Bundles `writ verify` in one file. Loading two files, plus the parts shared with other commands, costs a tenth of
 * the verification time. The launcher starts this file if `verify` is the first word. Otherwise the main program
 * imports the command from this file.
 */
export { run } from './commands/verify.ts';
export { main } from './main.ts';
