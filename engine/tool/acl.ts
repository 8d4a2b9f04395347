export { mayBeProgram, programsIn } from './acl/command-paths.ts';
export { commandProblems } from './acl/command-problems.ts';
export { type CommandVerdict, guardCommand } from './acl/guard-command.ts';
export { guardTool, shownPaths, type ToolInvocation, type ToolVerdict } from './acl/guard-tool.ts';
