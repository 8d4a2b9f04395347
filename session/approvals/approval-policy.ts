/** When a tool call needs the approval of a person (docs/approvals-of-commands.md). */
export type ApprovalPolicy = 'never' | 'allow-all' | 'on-failure' | 'on-request' | 'untrusted';
