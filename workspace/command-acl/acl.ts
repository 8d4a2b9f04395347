export { mayBeProgram, programsIn } from './command-paths.ts';
export { commandProblems } from './command-problems.ts';
export { type CommandVerdict, guardCommand } from './guard-command.ts';
export { guardTool, shownPaths, type ToolInvocation, type ToolVerdict } from './guard-tool.ts';
