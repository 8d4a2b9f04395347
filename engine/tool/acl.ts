export { commandProblems } from './acl/command-problems.ts';
export { type CommandVerdict, guardCommand } from './acl/guard-command.ts';
export { guardTool, type ToolInvocation } from './acl/guard-tool.ts';
