import { sandboxDigest, type ToolUse } from '../../../session/approvals/tool-use.ts';

export const sandbox = sandboxDigest({ backend: 'bwrap', network: 'deny', hosts: [], writes: ['/w'] });

let calls = 0;

/** A command in the workspace `/w`, confined, on main; each has an id of its own. */
export function commandUse(command: string, more: Partial<ToolUse> = {}): ToolUse {
  return toolUse({ tool: 'workspace.command', action: 'execute', command }, more);
}

/** Any use, of the run `r` unless it names another. */
export function toolUse(
  request: Omit<ToolUse['request'], 'runId'> & { readonly runId?: string },
  more: Partial<ToolUse> = {},
): ToolUse {
  calls += 1;
  return {
    id: `call-${calls}`,
    request: { runId: 'r', ...request },
    cwd: '/w',
    sandbox,
    branch: 'refs/heads/main',
    isOutside: false,
    ...more,
  };
}
