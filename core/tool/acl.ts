export { commandProblems } from './acl/command-problems.ts';
export { type CommandVerdict, guardCommand } from './acl/guard-command.ts';
